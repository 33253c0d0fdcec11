// What a person orders: one dialog, and a way back afterwards.
import { send } from './api.js';
import { ask } from './dialog.js';
import { h, keyed } from './dom.js';
import { t } from './i18n.js';
import { left } from './model.js';
import { pill } from './state.js';
import { say } from './toast.js';

const lasting = [0, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600]; // seconds; 0: until it is taken back
const maxNote = 200;

// ordersButton opens the orders for a target. name, if given, stands on it.
export function ordersButton(standing, name = '⋯') {
  return h('button', {
    type: 'button',
    class: 'quiet orders',
    'data-key': `orders ${standing.target}`,
    'aria-label': t('order.for', { target: standing.target }),
    onclick: () => choose(standing),
  }, name);
}

// choose lets the person choose what to order, and does it.
async function choose({ target, told, order }) {
  const policy = target.startsWith('policy:');
  let verbs = policy ? ['disable'] : ['disable', 'drain', 'pin'];
  if (told) verbs = ['clear', ...verbs];
  if (order) verbs = ['enable', ...verbs];
  const radios = verbs.map((verb, i) => h('input', { type: 'radio', name: 'verb', value: verb, id: `verb-${verb}`, checked: i === 0 }));
  const time = h('select', { id: 'order-time' }, lasting.map((s) => h('option', { value: s }, t(`lasting.${s}`))));
  const note = h('input', { id: 'order-note', type: 'text', maxlength: maxNote, autocomplete: 'off' });
  const details = h('div', { class: 'fields' },
    h('label', { for: 'order-time' }, t('order.time')), time,
    h('label', { for: 'order-note' }, t('order.note')), note);
  const chosen = () => radios.find((r) => r.checked).value;
  const show = () => {
    details.hidden = chosen() === 'clear' || chosen() === 'enable';
  };
  show();
  const content = [
    h('fieldset', { onchange: show }, h('legend', {}, t('order.what')), radios.map((r) => h('div', { class: 'choice' }, r,
      h('label', { for: r.id }, t(`verb.${r.value}`), h('span', { class: 'soft' }, t(`verb.${r.value}.does`)))))),
    details,
  ];
  let done = null;
  await ask({
    title: t('order.for', { target }),
    content,
    confirm: t('order.confirm'),
    check: async () => {
      const keeps = !details.hidden;
      const wanted = { verb: chosen(), target, seconds: keeps ? Number(time.value) : 0, note: keeps ? note.value.trim() : '' };
      await send('POST', 'api/orders', wanted);
      done = wanted;
    },
  });
  keyed(`orders ${target}`)?.focus();
  if (done) say(t(`done.${done.verb}`, { target }), { undo: inverse(done, order) });
}

// inverse is what undoes an order; nothing does if it was to forget. before is the order
// that stood until then.
function inverse({ verb, target }, before) {
  if (verb === 'clear') return null;
  const back = before
    ? { verb: before.verb, target, seconds: before.until ? Math.max(left(before.until) / 1000, 1) : 0, note: before.note ?? '' }
    : { verb: 'enable', target };
  return async () => {
    try {
      await send('POST', 'api/orders', back);
      say(t('done.undone', { target }));
    } catch (error) {
      say(error.message, { kind: 'trouble' });
    }
    keyed(`orders ${target}`)?.focus();
  };
}

// policies are the rules that a person can switch off.
export function policies(m, { verbs }) {
  return h('section', { class: 'card', 'aria-labelledby': 'policies' }, h('h2', { id: 'policies' }, t('policies.title')),
    h('ul', { class: 'policies' }, ['fallback', 'failover', 'retry', 'wait', 'canary'].map((name) => {
      const target = `policy:${name}`;
      const order = m.orders.get(target);
      const look = order ? { sign: 'off', tone: 'off', word: verbs.disable, until: order.until } : { sign: 'ok', tone: 'good', word: t('state.on') };
      return h('li', { class: 'line' }, h('span', {}, t(`policy.${name}`)), pill(look), ordersButton({ target, order }));
    })));
}
