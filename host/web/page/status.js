// The view "status": the waterfall as it stands now.
import { h, put, redraw, s } from './dom.js';
import { t } from './i18n.js';
import * as live from './live.js';
import { left, model, trial } from './model.js';
import { ordersButton, policies } from './orders.js';
import { countdown, look, pill, tick } from './state.js';
import * as time from './time.js';
import { river } from './water.js';

export const view = {
  name: 'status',
  open(main) {
    const draw = () => {
      if (live.view()) redraw(main, () => put(main, page(live.view())));
    };
    put(main, h('h1', {}, t('nav.status')), h('p', { class: 'soft' }, t('frame.waiting')));
    draw();
    document.addEventListener('status', draw);
    const end = time.every(() => {
      if (tick(main)) draw();
    });
    return () => {
      document.removeEventListener('status', draw);
      end();
      watcher?.disconnect();
    };
  },
};

function page(view) {
  const m = model(view);
  tell(headline(m));
  return [
    h('div', { class: 'head' },
      h('h1', {}, t('nav.status')),
      h('p', { class: 'soft' }, t('status.listens', { address: view.status.listen }), ' · ', t('status.since', { moment: time.moment(view.began) }))),
    view.status.refused && h('p', { class: 'note' }, t('status.refused', { why: view.status.refused })),
    view.status.store && h('p', { class: 'note' }, t('status.store', { why: view.status.store })),
    broken(view.status.entries),
    falls(view, m),
    policies(m, view),
    table(m.told),
  ];
}

function broken(entries) {
  const bad = entries.filter((e) => e.error);
  if (bad.length === 0) return null;
  return h('details', { class: 'card', 'data-key': 'broken' },
    h('summary', {}, t('status.broken', { n: bad.length })),
    h('dl', { class: 'facts' }, bad.map((e) => [h('dt', {}, e.id), h('dd', {}, e.error)])));
}

// tell says to who listens what has changed.
function tell(says) {
  const news = document.getElementById('news');
  if (news.textContent !== says) news.textContent = says;
}

// headline says in a sentence where a request goes.
function headline(m) {
  const [first] = m.vendors;
  if (!first) return t('status.none');
  if (!m.goes) return t('status.nobody');
  if (m.goes === first) return t('status.first', { vendor: first.name });
  const past = m.vendors.slice(0, m.vendors.indexOf(m.goes)).map((v) => v.name);
  return t('status.instead', { vendor: m.goes.name, past: past.join(t('names.comma')) });
}

let watcher = null;

function falls(view, m) {
  const svg = s('svg', { class: 'river', role: 'img', 'aria-label': headline(m) });
  const source = h('div', { class: 'source' }, h('span', { class: 'drop', 'aria-hidden': 'true' }), t('status.request'), chain(view.status.plugins));
  const steps = m.vendors.map((v, i) => {
    const seen = gateOf(v, view);
    return { element: step(v, i, seen, view, m), ...seen, enters: v === m.goes ? 'yes' : v.admits };
  });
  const end = m.goes ? null : h('p', { class: 'note sink' }, t('status.nobody'));
  const element = h('div', { class: 'falls' }, svg, source, h('ol', { class: 'steps' }, steps.map((x) => x.element)), end);
  element.style.setProperty('--steps', steps.length);
  for (const [i, x] of steps.entries()) x.element.style.setProperty('--step', i);
  watcher?.disconnect();
  watcher = new ResizeObserver(() => river(svg, element, source, steps, end));
  watcher.observe(element);
  return h('section', { class: 'card', 'aria-labelledby': 'falls' }, h('h2', { id: 'falls', class: 'headline' }, headline(m)), element);
}

// gateOf is how a vendor's gate looks: its own state, unless that lets through what
// its routes, keys or a pin elsewhere do not.
function gateOf(v, view) {
  const seen = look(v, view);
  if (v.admits !== 'no' || seen.tone === 'bad' || seen.tone === 'off') {
    return v.admits === 'trial' && !trial(v) ? { ...seen, sign: 'trial', tone: 'open', word: view.states.half_open } : seen;
  }
  return { sign: 'off', tone: 'off', word: t('state.passed') };
}

function chain(plugins) {
  return h('ul', { class: 'chain', 'aria-label': t('status.chain') }, plugins.map((p) => h('li', {},
    h('a', { class: `pill ${p.up ? 'good' : 'bad'}`, href: '#plugins', 'data-key': `plugin ${p.entry}` }, p.entry, ' ', p.up ? t('plugin.up') : t('plugin.down')))));
}

function step(v, i, seen, view, m) {
  const wet = m.goes === v;
  return h('li', { class: `step${wet ? ' wet' : ''}`, 'data-vendor': v.name },
    h('div', { class: 'title' },
      h('h3', {}, h('span', { class: 'rank', 'aria-hidden': 'true' }, i + 1), v.name),
      pill(seen),
      wet && h('span', { class: 'soft goes' }, t('status.here')),
      ordersButton(v, t('order.button'))),
    why(v),
    standing(v, view.verbs),
    h('div', { class: 'parts' },
      part('models', v.routes, v, view),
      v.keys.length > 0 && part('keys', v.keys.flatMap((k) => [k, ...k.models]), v, view)),
    v.others.length > 0 && h('details', { 'data-key': `others ${v.name}` },
      h('summary', { class: 'soft' }, t('status.others', { n: v.others.length })),
      h('ul', { class: 'others' }, v.others.map((target) => h('li', {}, ordersButton({ target }, target.slice(v.name.length + 1)))))));
}

// part lists a vendor's models or keys.
function part(name, list, v, view) {
  return h('ul', { class: name, 'aria-label': t(`status.${name}`) }, list.map((x) => line(x, x.target.slice(v.name.length + 1), view)));
}

function line(standingOf, name, view) {
  return h('li', { class: 'line' }, h('span', { class: 'mono' }, name), pill(look(standingOf, view)),
    ordersButton(standingOf), why(standingOf), standing(standingOf, view.verbs));
}

// why tells what stands against a target, in the server's words.
function why({ told }) {
  if (!told) return null;
  return h('p', { class: 'why' }, told.words.why, told.code && [' ', h('code', {}, told.code)]);
}

// standing tells a person's order.
function standing({ order }, verbs) {
  if (!order) return null;
  return h('p', { class: 'why' }, t('order.by'), verbs[order.verb], ', ',
    order.until ? [t('order.left'), countdown(order.until)] : t('order.endless'), order.note && [' · ', h('q', {}, order.note)]);
}

// table is the same again, as "spillway status" prints it.
function table(told) {
  if (told.length === 0) return h('p', { class: 'note calm' }, t('status.healthy'));
  const columns = ['scope', 'target', 'state', 'since', 'left', 'code', 'why'];
  return h('details', { class: 'card', 'data-key': 'table' }, h('summary', {}, t('status.table')),
    h('div', { class: 'scrolls', 'data-scrolls': true, tabindex: 0, role: 'region', 'aria-label': t('status.table') }, h('table', {},
      h('thead', {}, h('tr', {}, columns.map((c) => h('th', { scope: 'col' }, t(`column.${c}`))))),
      h('tbody', {}, told.map((x) => h('tr', {},
        h('td', {}, x.words.scope), h('td', { class: 'mono' }, x.target), h('td', {}, x.words.state),
        h('td', {}, x.since && time.moment(x.since)), h('td', {}, x.until && left(x.until) > 0 && countdown(x.until)),
        h('td', {}, x.code && h('code', {}, x.code)), h('td', {}, x.words.why)))))));
}
