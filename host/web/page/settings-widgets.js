// Widgets for single values. Each is {node, first, inputs, set, get, state,
// restore}; see settings-fields.js. A value that is not set shows its default where
// it would be typed.
import { h, put } from './dom.js';
import { t } from './i18n.js';

// hidden reports whether a value is one that the server does not show.
export function hidden(value) {
  return typeof value === 'object' && value !== null && '__kept' in value;
}

// single makes a widget of one input whose text is its state. A value that is not
// shown stays as it is until something is typed.
function single(input, node, read, write) {
  let kept;
  return {
    node,
    first: () => input,
    inputs: () => [input],
    set(value) {
      kept = hidden(value) ? value : undefined;
      input.placeholder = kept ? t('settings.hidden') : input.dataset.default ?? '';
      input.value = value === undefined || kept ? '' : write(value);
    },
    get: () => (input.value === '' && kept ? kept : read(input.value)),
    state: () => ({ text: input.value, kept }),
    restore(state) {
      kept = state.kept;
      input.value = state.text;
    },
  };
}

function attributes(context) {
  return { id: context.id, 'aria-describedby': context.describedby };
}

export function text(schema, context) {
  const input = h('input', { type: 'text', ...attributes(context), maxlength: schema.maxLength, 'data-default': schema.default });
  return single(input, input, (s) => (s === '' ? undefined : s), String);
}

export function json(schema, context) {
  const area = h('textarea', { rows: 4, spellcheck: 'false', class: 'mono', ...attributes(context), 'data-default': schema.default === undefined ? null : JSON.stringify(schema.default) });
  const read = (s) => {
    if (s.trim() === '') return undefined;
    try {
      return JSON.parse(s);
    } catch (error) {
      throw new Error(t('settings.notJSON', { why: error.message }));
    }
  };
  return single(area, area, read, (v) => JSON.stringify(v, null, 2));
}

// secret never shows its value, and takes the name of a variable only.
export function secret(context) {
  const input = h('input', { type: 'text', class: 'mono', autocomplete: 'off', spellcheck: 'false', ...attributes(context) });
  const state = h('span', { class: 'pill' });
  const w = single(input, h('div', { class: 'row' }, state, h('span', { class: 'soft' }, t('settings.variable')), input),
    (s) => {
      if (s.trim() === '') return undefined;
      if (!/^[A-Za-z_]\w*$/.test(s.trim())) throw new Error(t('settings.notVariable'));
      return { __jsExpr: `process.env.${s.trim()}` };
    }, () => '');
  const set = w.set;
  w.set = (value) => {
    set(value);
    put(state, t(value === undefined ? 'settings.unset' : 'settings.set'));
  };
  return w;
}

export function choice(schema, context) {
  const none = schema.default === undefined ? t('settings.noValue') : t('settings.default', { value: schema.default });
  const select = h('select', attributes(context), h('option', { value: '' }, none), schema.enum.map((v) => h('option', { value: v }, v)));
  return single(select, select, (s) => (s === '' ? undefined : s), String);
}

export function boolean(schema, context) {
  const input = h('input', { type: 'checkbox', ...attributes(context) });
  let set; // false: what is shown is the default
  input.addEventListener('input', () => (set = true));
  return {
    node: h('div', { class: 'row' }, input, h('span', { 'aria-hidden': 'true' }, t('settings.on'))),
    first: () => input,
    inputs: () => [input],
    set(value) {
      set = value !== undefined;
      input.checked = value ?? schema.default ?? false;
    },
    get: () => (set ? input.checked : undefined),
    state: () => ({ set, on: input.checked }),
    restore(state) {
      set = state.set;
      input.checked = state.on;
    },
  };
}

const units = [['h', 3600000], ['min', 60000], ['s', 1000], ['ms', 1]];

// unitOf is the largest unit in which a number of milliseconds is whole, but for
// the hour.
function unitOf(ms) {
  return (units.slice(1).find(([, length]) => ms >= length && ms % length === 0) ?? units[3])[0];
}

// number takes a number; one of milliseconds in the unit that the person likes.
export function number(schema, context, timed) {
  const input = h('input', { type: 'text', inputmode: 'decimal', ...attributes(context) });
  const unit = timed && h('select', { 'aria-label': `${t('settings.unit')}: ${context.words}` }, units.map(([u]) => h('option', { value: u }, t(`unit.${u}`))));
  const length = () => (timed ? Object.fromEntries(units)[unit.value] : 1);
  const shown = (v) => String(Number((v / length()).toFixed(6)));
  const range = timed ? null : h('span', { class: 'soft' }, limits(schema));
  const w = single(input, h('div', { class: 'row' }, input, unit, range),
    (s) => {
      if (s.trim() === '') return undefined;
      const n = Number(s.trim().replace(',', '.'));
      if (!Number.isFinite(n)) throw new Error(t('settings.notNumber'));
      return timed ? Math.round(n * length()) : n;
    }, shown);
  const set = w.set;
  w.set = (value) => {
    if (timed) unit.value = unitOf(value ?? schema.default ?? 60000);
    input.dataset.default = schema.default === undefined ? '' : t('settings.default', { value: shown(schema.default) });
    set(value);
  };
  if (timed) {
    const { state, restore } = w;
    w.state = () => ({ ...state(), unit: unit.value });
    w.restore = (old) => {
      unit.value = old.unit;
      restore(old);
    };
    w.inputs = () => [input, unit];
  }
  return w;
}

function limits({ minimum, maximum }) {
  if (minimum === undefined && maximum === undefined) return '';
  return t('settings.range', { from: minimum ?? '−∞', to: maximum ?? '∞' });
}
