// A list that can be put in order: by dragging its handles, by Alt with the arrow
// keys, or by the buttons. Items are routes, which are chosen from what the
// catalogue offers, or texts.
import { h, put } from './dom.js';
import { t } from './i18n.js';
import { hidden } from './settings-widgets.js';

let serial = 0;

// list is a widget; kind is "route" or "text".
export function list(context, kind) {
  let items = []; // {key, value}
  let set = false; // false: there is no value
  const rows = h('ol', { class: 'sortable' });
  const empty = h('p', { class: 'soft' }, t('list.empty'));
  const adding = kind === 'route' ? routeAdder(context, add) : textAdder(context, add);
  const node = h('div', { class: 'list', 'aria-describedby': context.describedby }, rows, empty, adding.node);

  function name(item) {
    const v = item.value;
    if (hidden(v)) return t('settings.hidden');
    if (typeof v === 'string') return v;
    return v?.provider ? `${v.provider}${v.model ? `/${v.model}` : ''}` : JSON.stringify(v);
  }

  function changed() {
    set = true;
    node.dispatchEvent(new Event('input', { bubbles: true }));
  }

  function add(value) {
    items.push({ key: ++serial, value });
    draw();
    changed();
    context.announce(t('list.added', { name: name(items.at(-1)), n: items.length }));
  }

  function remove(item) {
    const at = items.indexOf(item);
    items.splice(at, 1);
    draw();
    changed();
    context.announce(t('list.removed', { name: name(item) }));
    const next = rows.children[Math.min(at, items.length - 1)];
    (next?.querySelector('.remove') ?? adding.first()).focus();
  }

  // move puts an item at another place. control is the class of what keeps the
  // focus.
  function move(item, to, control) {
    const from = items.indexOf(item);
    if (to < 0 || to >= items.length || to === from) {
      context.announce(t('list.atEnd', { name: name(item) }));
      return;
    }
    items.splice(to, 0, ...items.splice(from, 1));
    draw();
    changed();
    moved(item);
    const row = rows.children[to];
    const wanted = row.querySelector(`.${control}`);
    (wanted.disabled ? row.querySelector('.handle') : wanted).focus();
  }

  function moved(item) {
    context.announce(t('list.moved', { name: name(item), n: items.indexOf(item) + 1, of: items.length }));
  }

  function draw() {
    put(rows, items.map(row));
    empty.hidden = items.length > 0;
  }

  function row(item, at) {
    const label = name(item);
    const known = kind !== 'route' || hidden(item.value) || context.providers.some((p) => label === p.name || label.startsWith(`${p.name}/`));
    const handle = h('button', { type: 'button', class: 'handle quiet', 'aria-label': t('list.handle', { name: label, n: at + 1, of: items.length }) }, '⠿');
    const button = (kind, glyph, act, disabled) => h('button', {
      type: 'button', class: `${kind} quiet`, disabled, 'aria-label': t(`list.${kind}`, { name: label }), onclick: act,
    }, glyph);
    const li = h('li', { 'data-name': label }, handle, h('span', { class: 'name mono' }, label),
      known ? null : h('span', { class: 'pill open' }, t('list.unknown')),
      h('span', { class: 'keys' },
        button('up', '↑', () => move(item, items.indexOf(item) - 1, 'up'), at === 0),
        button('down', '↓', () => move(item, items.indexOf(item) + 1, 'down'), at === items.length - 1),
        button('remove', '×', () => remove(item))));
    li.addEventListener('keydown', (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.altKey) return;
      event.preventDefault();
      move(item, items.indexOf(item) + step, document.activeElement.classList[0] ?? 'handle');
    });
    drag(handle, li, item);
    return li;
  }

  // drag lets the pointer take a row along. The others make way around it, so that
  // it keeps the pointer.
  function drag(handle, li, item) {
    let before = null; // the order as it was, while something is dragged
    const finish = (keep) => {
      if (!before) return;
      li.classList.remove('dragged');
      if (keep) items = [...rows.children].map((c) => before.find((i) => i.key === Number(c.dataset.key)));
      else items = before;
      const differs = items.some((i, n) => i !== before[n]);
      before = null;
      draw();
      if (differs) {
        changed();
        moved(item);
      }
      rows.children[items.indexOf(item)].querySelector('.handle').focus();
    };
    li.dataset.key = item.key;
    handle.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      before = [...items];
      handle.setPointerCapture(event.pointerId);
      li.classList.add('dragged');
    });
    handle.addEventListener('pointermove', (event) => {
      if (!before) return;
      const middle = (e) => e.getBoundingClientRect().top + e.offsetHeight / 2;
      while (li.previousElementSibling && event.clientY < middle(li.previousElementSibling)) li.after(li.previousElementSibling);
      while (li.nextElementSibling && event.clientY > middle(li.nextElementSibling)) li.before(li.nextElementSibling);
    });
    handle.addEventListener('pointerup', () => finish(true));
    handle.addEventListener('pointercancel', () => finish(false));
    handle.addEventListener('keydown', (event) => event.key === 'Escape' && finish(false));
  }

  return {
    node,
    group: true,
    first: () => rows.querySelector('.handle') ?? adding.first(),
    inputs: () => adding.inputs,
    set(value) {
      set = value !== undefined;
      items = (Array.isArray(value) ? value : []).map((v) => ({ key: ++serial, value: v }));
      draw();
    },
    get: () => (set ? items.map((i) => i.value) : undefined),
    state: () => ({ set, values: items.map((i) => i.value) }),
    restore(state) {
      this.set(state.values);
      set = state.set;
    },
  };
}

// routeAdder takes a provider, with a model or without.
function routeAdder(context, add) {
  const models = h('datalist', { id: `${context.id}-models` });
  const provider = h('select', { id: context.id, form: '', 'aria-describedby': context.describedby },
    context.providers.map((p) => h('option', { value: p.name }, p.name)));
  const model = h('input', { type: 'text', id: `${context.id}-model`, form: '', list: `${context.id}-models`, placeholder: t('list.anyModel'), autocomplete: 'off', spellcheck: 'false' });
  const offer = () => put(models, (context.providers.find((p) => p.name === provider.value)?.models ?? []).map((m) => h('option', { value: m })));
  provider.addEventListener('change', offer);
  offer();
  const act = () => {
    if (provider.value) add(model.value.trim() ? `${provider.value}/${model.value.trim()}` : provider.value);
    model.value = '';
  };
  return adder(context, [h('label', { for: context.id }, t('list.provider')), provider, h('label', { for: model.id }, t('list.model')), model, models], [provider, model], act);
}

function textAdder(context, add) {
  const input = h('input', { type: 'text', id: context.id, form: '', 'aria-describedby': context.describedby });
  const act = () => {
    if (input.value.trim()) add(input.value.trim());
    input.value = '';
    input.focus();
  };
  return adder(context, [h('label', { for: context.id }, t('list.text')), input], [input], act);
}

// adder is what adds an item. What is typed into it is no change of the list yet,
// and its inputs are of no form: Enter adds, and saves nothing.
function adder(context, content, inputs, act) {
  const node = h('div', { class: 'row adder' }, content, h('button', { type: 'button', class: 'add', 'aria-label': `${t('list.add')}: ${context.words}`, onclick: act }, t('list.add')));
  node.addEventListener('input', (event) => event.stopPropagation());
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.target.tagName === 'BUTTON') return;
    event.preventDefault();
    act();
  });
  return { node, inputs, first: () => inputs[0] };
}
