// Dialogs: native ones, so that the focus stays inside, Escape closes, and the
// focus returns to where it was.
import { h } from './dom.js';
import { t } from './i18n.js';

// ask shows a dialog and returns whether the person confirmed. content is nodes;
// confirm is the word on the button; danger marks what takes something away. check,
// if given, is awaited before the dialog closes: an error that it throws is shown and
// the dialog stays.
export function ask({ title, content, confirm, danger, check }) {
  return new Promise((resolve) => {
    const heading = h('h2', { id: 'dialog-title' }, title);
    const trouble = h('p', { class: 'trouble', role: 'alert', hidden: true });
    const yes = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, confirm);
    const no = h('button', { type: 'button', onclick: () => dialog.close() }, t('dialog.cancel'));
    const form = h('form', { method: 'dialog' }, heading, content, trouble, h('div', { class: 'buttons' }, no, yes));
    const dialog = h('dialog', { 'aria-labelledby': 'dialog-title' }, form);
    let confirmed = false;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      yes.disabled = true;
      try {
        await check?.();
        confirmed = true;
        dialog.close();
      } catch (error) {
        trouble.textContent = error.message;
        trouble.hidden = false;
      }
      yes.disabled = false;
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(confirmed);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
