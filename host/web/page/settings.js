// The settings: one card for each entry with fields that can be changed while it
// runs. What is typed and not saved is kept while the page is open, whatever else
// is shown meanwhile.
import { get, send } from './api.js';
import { h, put } from './dom.js';
import { t } from './i18n.js';
import * as live from './live.js';
import { fieldsOf } from './settings-fields.js';
import { equal, fileOf, find, join, label, told, within } from './settings-words.js';
import { say } from './toast.js';

const drafts = new Map(); // entry -> path of a field -> what its widget held

export const view = {
  name: 'settings',
  open(main, where) {
    const cards = h('div', { class: 'settings' });
    const trouble = h('div');
    put(main, h('h1', {}, t('nav.settings')), h('p', { class: 'soft' }, t('settings.lead')), trouble, cards);
    const shown = new Map(); // entry -> its card
    let open = true;

    // load draws what the files say. Only cards that differ are drawn anew.
    async function load() {
      let all;
      try {
        all = await get('api/settings');
      } catch (error) {
        if (open) put(trouble, h('p', { class: 'note', role: 'alert' }, t('settings.unreadable'), ' ', error.message));
        return;
      }
      if (!open) return;
      put(trouble);
      for (const entry of all.entries) {
        const before = shown.get(entry.id);
        if (before && JSON.stringify(before.entry) === JSON.stringify(entry)) continue;
        const next = card(entry, all.providers, load);
        if (before) before.node.replaceWith(next.node);
        else cards.append(next.node);
        shown.set(entry.id, next);
      }
      for (const [id, c] of shown) {
        if (all.entries.some((e) => e.id === id)) continue;
        c.node.remove();
        shown.delete(id);
      }
      if (!all.entries.length) put(trouble, h('p', {}, t('settings.none')));
    }

    // The files may have been read again at any time. A card with something typed
    // waits for its save, which finds out.
    let read = live.view()?.read;
    function changed(event) {
      if (event.detail.read === read) return;
      read = event.detail.read;
      if (![...shown.values()].some((c) => c.dirty() || c.node.contains(document.activeElement))) load();
    }

    document.addEventListener('status', changed);
    addEventListener('beforeunload', warn);
    load().then(() => shown.get(where.path[0])?.node.scrollIntoView());
    return () => {
      open = false;
      document.removeEventListener('status', changed);
      removeEventListener('beforeunload', warn);
    };
  },
};

function warn(event) {
  if ([...drafts.values()].some((d) => d.size)) event.preventDefault();
}

// card is the form of one entry.
function card(entry, providers, reload) {
  const title = `settings-${entry.id}`;
  const note = h('div', { class: 'notes' });
  const hush = h('p', { class: 'hush', role: 'status' });
  const save = h('button', { type: 'submit', class: 'primary' }, t('settings.save'));
  const drop = h('button', { type: 'button', onclick: discard }, t('settings.discard'));
  const draft = drafts.get(entry.id) ?? new Map();
  drafts.set(entry.id, draft);

  const fields = fieldsOf(entry.schema, { entry: entry.id, providers, announce: (text) => put(hush, text) });
  for (const f of fields) {
    f.saved = find(entry.values, f.steps);
    f.inherited = find(entry.inherited, f.steps);
    f.set(f.saved);
    f.untouched = JSON.stringify(f.state());
    if (draft.has(f.path)) f.restore(draft.get(f.path));
    f.node.addEventListener('input', () => typed(f));
    f.reset.addEventListener('click', () => {
      f.set(f.inherited);
      f.clear = !equal(f.saved, f.inherited);
      typed(f);
      put(hush, t('settings.wasReset', { field: label(f) }));
      f.first().focus();
    });
    put(f.origin, origin(entry.origins, f));
  }

  function typed(f) {
    if (JSON.stringify(f.state()) === f.untouched) draft.delete(f.path);
    else draft.set(f.path, f.state());
    f.fault();
    show();
  }

  function show() {
    for (const f of fields) {
      f.node.classList.toggle('touched', draft.has(f.path));
      f.reset.hidden = f.clear || (equal(f.saved, f.inherited) && !draft.has(f.path));
    }
    save.disabled = drop.disabled = draft.size === 0;
  }

  function discard() {
    for (const f of fields) {
      f.set(f.saved);
      f.fault();
    }
    draft.clear();
    put(note);
    put(hush, t('settings.discarded'));
    show();
    fields[0].first().focus();
    reload();
  }

  // changes are those that were typed. One that cannot be read throws.
  function changes() {
    const list = [];
    for (const f of fields) {
      if (!draft.has(f.path)) continue;
      const value = f.clear ? undefined : f.get();
      if (value !== undefined || f.saved !== undefined) list.push({ path: f.path, value });
    }
    return list;
  }

  async function submit(event) {
    event.preventDefault();
    for (const f of fields) f.fault();
    let list;
    try {
      list = changes();
    } catch (error) {
      if (!error.field) throw error;
      faults([{ path: error.field.path, message: error.message }]);
      return;
    }
    save.disabled = true;
    await attempt(list, entry.revision, fields.filter((f) => draft.has(f.path)));
    show();
  }

  async function attempt(list, revision, which) {
    let saved;
    try {
      saved = await store(entry.id, revision, list);
    } catch (error) {
      refused(error);
      return;
    }
    draft.clear();
    put(note);
    const names = which.map(label).join(t('settings.and'));
    const undo = which.map((f) => ({ path: f.path, value: f.saved }));
    say(done(saved, names), {
      undo: async () => {
        try {
          const back = await store(entry.id, saved.revision, undo);
          say(done(back, names));
        } catch (error) {
          say(t('settings.notUndone', { why: error.message }), { kind: 'trouble' });
        }
        reload();
      },
    });
    reload();
  }

  // refused says why nothing was saved. What was typed stays.
  function refused(error) {
    const { type, at, faults: list } = error.detail;
    if (type === 'changed') {
      put(note, h('div', { class: 'note', role: 'alert' }, h('p', {}, t('settings.changed')),
        h('button', { type: 'button', class: 'newer', onclick: newer }, t('settings.newer'))));
      note.querySelector('button').focus();
    } else if (type === 'overridden') {
      put(note, h('div', { class: 'note', role: 'alert' },
        h('p', {}, t('settings.overridden', { layer: t(`layer.${at.layer}`), place: `${fileOf(at)}${at.line ? `:${at.line}` : ''}` })),
        h('p', { class: 'mono' }, error.message)));
    } else if (type === 'invalid') {
      faults(list ?? []);
    } else {
      put(note, h('p', { class: 'note', role: 'alert' }, t('settings.notSaved', { why: error.message })));
    }
  }

  // newer loads what the files say now, over which the typed fields stay as they
  // are.
  async function newer() {
    await reload();
    document.getElementById(title)?.focus();
  }

  // faults shows each fault beside its field, those of none above.
  function faults(list) {
    const rest = [];
    let first;
    for (const fault of list) {
      const f = fields.find((f) => within(fault.path, f.path));
      if (f) {
        f.fault(told(fault, f));
        f.node.closest('details')?.setAttribute('open', '');
      }
      else rest.push(h('li', {}, `${fault.path ? `${fault.path}: ` : ''}${told(fault)}`));
      first ??= f;
    }
    put(note, h('div', { class: 'note', role: 'alert' }, t('settings.invalid', { n: list.length }), rest.length ? h('ul', {}, rest) : null));
    first?.first().focus();
  }

  const node = h('section', { class: 'card', 'aria-labelledby': title },
    h('div', { class: 'head' }, h('h2', { id: title, tabindex: '-1' }, entry.id), h('span', { class: 'soft mono' }, entry.module)),
    entry.error ? h('p', { class: 'note' }, entry.error) : null,
    h('form', { novalidate: true, onsubmit: submit }, grouped(fields, draft), note, h('div', { class: 'buttons' }, drop, save)),
    hush);
  show();
  return { node, entry, dirty: () => draft.size > 0 };
}

// grouped puts the fields of a mapping together, closed as long as none is set.
function grouped(fields, draft) {
  const nodes = [];
  const groups = new Map();
  for (const f of fields) {
    const parent = f.steps.slice(0, -1);
    const key = join(parent);
    if (!parent.length) nodes.push(f.node);
    else if (groups.has(key)) groups.get(key).append(f.node);
    else {
      const group = h('details', {}, h('summary', {}, label({ path: key, steps: parent, schema: {} }), ' ', h('code', { class: 'soft' }, key)), f.node);
      groups.set(key, group);
      nodes.push(group);
    }
    if (parent.length && (f.saved !== undefined || draft.has(f.path))) groups.get(key).setAttribute('open', '');
  }
  return nodes;
}

function store(id, revision, changes) {
  return send('PUT', `api/settings/${encodeURIComponent(id)}`, { changes }, { 'If-Match': `"${revision}"` });
}

// done says what was written where.
function done(saved, names) {
  if (!saved.written) return t('settings.asBefore');
  if (!saved.at.line) return t('settings.cleared', { names, file: fileOf(saved.at) });
  return t('settings.saved', { names, file: fileOf(saved.at), line: saved.at.line });
}

// origin says where a value comes from.
function origin(origins, f) {
  const at = Object.entries(origins).filter(([path]) => within(f.path, path)).sort((a, b) => b[0].length - a[0].length)[0]?.[1];
  if (!at || f.saved === undefined) return t('settings.byDefault');
  return t('settings.from', { layer: t(`layer.${at.layer}`), place: `${fileOf(at)}:${at.line}` });
}
