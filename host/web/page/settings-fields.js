// Fields made of a JSON Schema. A field is {path, steps, schema, node, set, get,
// state, restore, first, fault, reset, origin}: set shows a value, undefined for none;
// get reads it and throws an error with the field if it cannot be read; state is what
// has been typed, as it stands, and restore takes that back.
import { h, put } from './dom.js';
import { t } from './i18n.js';
import { about, label, join } from './settings-words.js';
import { list } from './settings-list.js';
import { boolean, choice, json, number, secret, text } from './settings-widgets.js';

// fieldsOf are the fields of a form, in the schema's order. A mapping with
// properties is as many fields as it has.
export function fieldsOf(root, context) {
  const fields = [];
  const walk = (schema, steps) => {
    const s = resolved(schema, root);
    if (s.properties) {
      for (const [key, sub] of Object.entries(s.properties)) walk(sub, [...steps, key]);
    } else {
      fields.push(field(s, steps, root, context));
    }
  };
  walk(root, []);
  return fields;
}

// resolved is a schema without $ref, which keeps what stands beside it.
export function resolved(schema, root) {
  for (let depth = 0; schema?.$ref?.startsWith('#/') && depth < 8; depth++) {
    let target = root;
    for (const step of schema.$ref.slice(2).split('/')) target = target?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
    const { $ref, ...beside } = schema;
    schema = { ...target, ...beside };
  }
  return schema ?? {};
}

// widget chooses how a value is drawn.
function widget(s, root, context, key) {
  if (s.writeOnly || /(key|token|secret|password|credential)s?$/i.test(key)) return secret(context);
  if (Array.isArray(s.enum) && s.enum.every((v) => typeof v === 'string')) return choice(s, context);
  if (s.type === 'boolean') return boolean(s, context);
  if (s.type === 'integer' || s.type === 'number') return number(s, context, /Ms$/.test(key));
  if (s.type === 'string') return text(s, context);
  if (s.type === 'array') {
    const item = resolved(s.items, root);
    if (isRoute(item, root)) return list(context, 'route');
    if (item.type === 'string' && !item.enum) return list(context, 'text');
  }
  return json(s, context);
}

// isRoute reports whether values name a provider, with or without a model, and no
// more.
function isRoute(s, root) {
  const one = resolved(s, root);
  if (one.properties) return Object.keys(one.properties).every((k) => k === 'provider' || k === 'model') && isRoute(one.properties.provider, root);
  return one['x-provider'] === true || (one.oneOf ?? one.anyOf ?? []).some((o) => isRoute(o, root));
}

function field(schema, steps, root, context) {
  const path = join(steps);
  const id = `f-${context.entry}-${path}`.replace(/[^\w-]/g, '_');
  const f = { path, steps, schema, clear: false };
  const words = label(f);
  const w = widget(schema, root, { ...context, id, words, describedby: `${id}-about ${id}-origin ${id}-fault` }, steps.at(-1));
  const fault = h('p', { class: 'trouble', id: `${id}-fault` });
  f.origin = h('span', { class: 'soft', id: `${id}-origin` });
  f.reset = h('button', { type: 'button', class: 'quiet', 'aria-label': `${t('settings.reset')}: ${words}` }, t('settings.reset'));
  const head = [h('span', { class: 'words' }, words), ' ', h('code', { class: 'soft' }, path)];
  const explained = about(f);
  f.node = h('div', { class: 'field', 'data-path': path, role: w.group ? 'group' : null, 'aria-labelledby': w.group ? `${id}-label` : null },
    w.group ? h('div', { class: 'label', id: `${id}-label` }, head) : h('label', { for: id }, head),
    h('p', { class: 'soft', id: `${id}-about` }, explained),
    w.node, fault, h('div', { class: 'origin' }, f.origin, f.reset));
  f.first = w.first;
  f.set = (value) => {
    f.clear = false;
    w.set(value);
  };
  f.get = () => {
    try {
      return w.get();
    } catch (error) {
      error.field = f;
      throw error;
    }
  };
  f.state = () => ({ clear: f.clear, typed: w.state() });
  f.restore = (state) => {
    w.restore(state.typed);
    f.clear = state.clear;
  };
  f.node.addEventListener('input', () => (f.clear = false));
  f.fault = (words) => {
    put(fault, words ?? '');
    for (const input of w.inputs()) {
      if (words) input.setAttribute('aria-invalid', 'true');
      else input.removeAttribute('aria-invalid');
    }
  };
  return f;
}
