// What has been done is said in a live region, with a way back for a while.
import { h } from './dom.js';
import { t } from './i18n.js';

const staying = 10000; // ms

// say tells text. undo, if given, is what the button does; it may be async. kind is
// "done" or "trouble".
export function say(text, { undo, kind = 'done' } = {}) {
  const before = document.activeElement;
  let timer = 0;
  const end = () => {
    clearTimeout(timer);
    const inside = toast.contains(document.activeElement);
    toast.remove();
    if (inside && before?.isConnected) before.focus();
  };
  // While somebody is about to use it, it stays.
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (toast.matches(':hover, :has(:focus-visible)') ? wait() : end()), staying);
  };
  const back = undo && h('button', {
    type: 'button',
    class: 'undo',
    onclick: async () => {
      end();
      await undo();
    },
  }, t('toast.undo'));
  const toast = h('div', { class: `toast ${kind}` }, h('span', {}, text), back,
    h('button', { type: 'button', class: 'quiet', 'aria-label': t('toast.close'), onclick: end }, '×'));
  document.getElementById('toasts').append(toast);
  wait();
  back?.focus();
}
