// The view "plugins": the processes of the chain, and the profile's entries.
import { h, put, redraw } from './dom.js';
import { t } from './i18n.js';
import * as live from './live.js';
import { pill } from './state.js';
import * as time from './time.js';

export const view = {
  name: 'plugins',
  open(main) {
    const draw = () => {
      if (live.view()) redraw(main, () => put(main, page(live.view().status)));
    };
    put(main, h('h1', {}, t('nav.plugins')), h('p', { class: 'soft' }, t('frame.waiting')));
    draw();
    document.addEventListener('status', draw);
    const end = time.every(() => {
      for (const up of main.querySelectorAll('time.up')) up.textContent = running(up.dateTime);
    });
    return () => {
      document.removeEventListener('status', draw);
      end();
    };
  },
};

function page({ plugins, entries }) {
  return [
    h('h1', {}, t('nav.plugins')),
    plugins.length === 0 && h('p', { class: 'card soft' }, t('plugins.none')),
    plugins.map(plugin),
    h('section', { class: 'card', 'aria-labelledby': 'entries' }, h('h2', { id: 'entries' }, t('plugins.entries')),
      h('ul', { class: 'entries' }, entries.map((e) => h('li', { class: 'line' },
        h('span', { class: 'mono' }, e.id), h('span', { class: 'soft' }, e.module),
        pill(e.error ? { sign: 'off', tone: 'bad', word: t('entry.trouble') } : { sign: 'ok', tone: 'good', word: t('entry.runs') }),
        e.error && h('p', { class: 'why' }, e.error))))),
  ];
}

function running(since) {
  return time.span(Math.max(time.now() - new Date(since), 0));
}

function plugin(p) {
  const facts = [
    ['version', p.version],
    ['pid', p.pid],
    ['running', p.up && h('time', { class: 'up', datetime: p.since }, running(p.since))],
    ['restarts', p.restarts],
    ['bypassed', p.bypassed],
    ['planned', p.planned],
    ['sha256', p.sha256 && h('code', {}, p.sha256)],
  ];
  return h('section', { class: 'card plugin', 'aria-label': p.entry },
    h('div', { class: 'title' }, h('h2', {}, p.entry),
      pill(p.up ? { sign: 'ok', tone: 'good', word: t('plugin.up') } : { sign: 'off', tone: 'bad', word: t('plugin.down') })),
    p.down && h('p', { class: 'note' }, p.down),
    h('dl', { class: 'facts' }, facts.filter(([, v]) => v !== undefined && v !== '' && v !== false).map(([k, v]) => h('div', {}, h('dt', {}, t(`plugin.${k}`)), h('dd', {}, v)))),
    p.output.length > 0 && h('div', {}, h('h3', {}, t('plugin.output')),
      h('pre', { class: 'log', 'data-scrolls': true, tabindex: 0, role: 'region', 'aria-label': t('plugin.outputOf', { plugin: p.entry }) }, p.output.join('\n'))));
}
