import { h, put } from './dom.js';
import { t } from './i18n.js';

export const view = {
  name: 'status',
  open(main) {
    put(main, h('h1', {}, t('nav.status')));
  },
};
