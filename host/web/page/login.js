// The form for the gateway's token. Once given it is exchanged for a cookie and
// kept nowhere.
import { send } from './api.js';
import { h, put } from './dom.js';
import { t } from './i18n.js';

// login puts the form into main and resolves when the token was right.
export function login(main) {
  return new Promise((resolve) => {
    const token = h('input', { type: 'password', id: 'token', autocomplete: 'current-password', required: true });
    const trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
    const form = h('form', { class: 'login card' },
      h('h1', {}, t('login.title')),
      h('p', {}, t('login.why')),
      h('label', { for: 'token' }, t('login.token')), token,
      trouble,
      h('button', { type: 'submit', class: 'primary' }, t('login.enter')));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      try {
        await send('POST', 'api/session', {}, { Authorization: `Bearer ${token.value}` });
        resolve();
      } catch (error) {
        trouble.textContent = error.status === 401 ? t('login.wrong') : error.message;
        trouble.hidden = false;
        token.select();
      }
    });
    put(main, form);
    token.focus();
  });
}
