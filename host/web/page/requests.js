// The view "requests": the newest first, and one of them as a diagram and a story.
import { get } from './api.js';
import { h, put, redraw } from './dom.js';
import { t } from './i18n.js';
import * as live from './live.js';
import { pill, tick } from './state.js';
import * as time from './time.js';
import { timeline } from './timeline.js';

export const view = {
  name: 'requests',
  open: (main, where) => (where.path.length > 0 ? one(main, where.path.join('/')) : list(main, where.query)),
};

const outcomes = ['ok', 'ok_after_retry', 'ok_after_failover', 'ok_after_fallback', 'failed_clean', 'failed_midstream', 'cancelled'];
const signs = { good: 'ok', open: 'trial', bad: 'off' };

// sign is how a request's outcome looks; one that took another way has a sign of its own.
function sign({ tone, outcome }) {
  return outcome === 'ok_after_failover' || outcome === 'ok_after_fallback' ? 'detour' : signs[tone];
}

const spans = [900, 3600, 86400, 7 * 86400];
const maxSuggested = 20; // models of a vendor
const freshen = 1000; // ms; how often the list is read again while requests end

const filterable = ['outcome', 'route', 'last', 'text', 'conversation'];
let asked = ''; // the query of the list that was shown last, for the way back

// list shows the requests that the query wants: outcome, route, text, conversation, and
// last, in seconds.
function list(main, query) {
  let wanted = query;
  let rows = new Map();
  let next = null; // from where "older" goes on, '' if there are none, null before the first answer
  let turn = 0; // rises when the filters change: answers to older questions are dropped
  const found = h('ol', { class: 'requests' });
  const older = h('button', { type: 'button', hidden: true, onclick: () => load(next) }, t('requests.older'));
  const count = h('p', { class: 'soft', role: 'status' });
  const trouble = h('p', { class: 'note', role: 'alert', hidden: true });

  async function load(before) {
    const mine = turn;
    const question = Object.fromEntries([...wanted].filter(([k]) => filterable.includes(k) && k !== 'last'));
    if (wanted.get('last')) question.since = new Date(time.now() - wanted.get('last') * 1000).toISOString();
    if (before) question.before = before;
    try {
      const answer = await get('api/requests', question);
      if (mine !== turn) return;
      trouble.hidden = true;
      for (const r of answer.requests) rows.set(r.id, r);
      if (before || next === null) next = answer.next ?? ''; // reading the top again does not move it
    } catch (error) {
      if (mine !== turn) return;
      trouble.textContent = error.message;
      trouble.hidden = false;
    }
    const sorted = [...rows.values()].sort((a, b) => new Date(b.started) - new Date(a.started));
    redraw(found, () => put(found, sorted.map(row)));
    older.hidden = !next;
    count.textContent = sorted.length > 0 ? t('requests.count', { n: sorted.length }) : t('requests.none');
  }

  function want(changed) {
    wanted = changed;
    asked = `${wanted.size > 0 ? '?' : ''}${wanted}`;
    turn++;
    rows = new Map();
    next = null;
    load();
  }

  put(main, h('div', { class: 'head' }, h('h1', {}, t('nav.requests')), count), filters(query, (changed) => {
    want(changed);
    history.replaceState(null, '', `#requests${asked}`);
  }), trouble, found, older);
  want(query);
  let due = 0;
  const fresh = () => {
    due ||= setTimeout(() => {
      due = 0;
      load();
    }, freshen);
  };
  document.addEventListener('request', fresh);
  return () => {
    turn++;
    clearTimeout(due);
    document.removeEventListener('request', fresh);
  };
}

// filters is the form; changed hears what is wanted, without what is left empty.
function filters(query, changed) {
  const providers = live.view()?.status.providers ?? [];
  const routes = providers.flatMap((p) => [p.name, ...(p.models ?? []).slice(0, maxSuggested).map((m) => `${p.name}/${m.id}`)]);
  const option = (name, value, text) => h('option', { value, selected: (query.get(name) ?? '') === String(value) }, text);
  const field = (name, control) => h('div', {}, h('label', { for: `filter-${name}` }, t(`filter.${name}`)), control);
  const input = (name, attributes) => h('input', { id: `filter-${name}`, name, value: query.get(name), autocomplete: 'off', spellcheck: 'false', ...attributes });
  const form = h('form', { class: 'filters card', role: 'search', 'aria-label': t('filter.title') },
    field('outcome', h('select', { id: 'filter-outcome', name: 'outcome' }, option('outcome', '', t('filter.any')), outcomes.map((o) => option('outcome', o, t(`outcome.${o}`))))),
    field('route', [input('route', { list: 'routes' }), h('datalist', { id: 'routes' }, routes.map((r) => h('option', { value: r })))]),
    field('last', h('select', { id: 'filter-last', name: 'last' }, option('last', '', t('filter.any')), spans.map((s) => option('last', s, time.span(s * 1000))))),
    field('text', input('text', { placeholder: 'req_' })),
    field('conversation', input('conversation')));
  const apply = () => changed(new URLSearchParams([...new FormData(form)].map(([k, v]) => [k, v.trim()]).filter(([, v]) => v)));
  form.addEventListener('change', apply);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    apply();
  });
  return form;
}

function row(r) {
  return h('li', { class: r.tone }, h('a', { href: `#requests/${encodeURIComponent(r.id)}`, 'data-key': r.id },
    h('span', { class: 'when' }, h('time', { datetime: r.started }, time.moment(r.started))),
    pill({ sign: sign(r), tone: r.tone, word: t(`outcome.${r.outcome}`) }),
    h('span', { class: 'tried' },
      r.tried[0] !== r.head && h('s', { class: 'mono' }, r.head),
      r.tried.map((route, i) => [(i > 0 || route !== r.head) && h('span', { class: 'arrow', 'aria-hidden': 'true' }, '→'), h('span', { class: 'mono' }, route)])),
    h('span', { class: 'took' }, time.span(r.took_ms)),
    h('span', { class: 'ending' }, r.ending)));
}

// one shows a single request.
function one(main, id) {
  const end = time.every(() => tick(main));
  let closed = false;
  let timer = 0;
  const top = [h('p', {}, h('a', { href: `#requests${asked}` }, t('request.all'))), h('h1', {}, t('request.title'), ' ', h('span', { class: 'mono id' }, id))];
  const ruler = h('span', {}, '0'.repeat(10));
  const box = h('pre', { class: 'story' }, ruler);
  put(main, top, h('p', { class: 'soft' }, t('frame.waiting')), h('div', { class: 'card unseen', 'aria-hidden': 'true' }, box));
  const style = getComputedStyle(box);
  const room = box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  const cols = Math.floor(room / (ruler.getBoundingClientRect().width / 10));
  const load = async () => {
    try {
      const answer = await get(`api/requests/${encodeURIComponent(id)}`, { cols });
      if (!closed) put(main, top, details(answer));
    } catch (error) {
      if (!closed) put(main, top, h('p', { class: 'note' }, error.message));
    }
  };
  load();
  const again = (event) => { // a late decision has been added
    if (event.detail.id === id) {
      clearTimeout(timer);
      timer = setTimeout(load, freshen / 4);
    }
  };
  document.addEventListener('request', again);
  return () => {
    closed = true;
    clearTimeout(timer);
    document.removeEventListener('request', again);
    end();
  };
}

function details({ record, words, story }) {
  const facts = [
    ['started', time.moment(record.started)],
    ['head', h('span', { class: 'mono' }, [record.head.provider, record.head.model].filter(Boolean).join('/'))],
    ['dialect', record.dialect],
    ['stream', record.stream ? t('request.streamed') : t('request.whole')],
    ['took', time.span(record.took_ms)],
    ['conversation', record.conversation && h('a', { class: 'mono', href: `#requests?conversation=${encodeURIComponent(record.conversation)}` }, record.conversation)],
  ];
  return [
    h('p', { class: `note tone ${words.tone}` }, words.ending),
    h('dl', { class: 'facts card' }, facts.filter(([, v]) => v).map(([k, v]) => h('div', {}, h('dt', {}, t(`request.${k}`)), h('dd', {}, v)))),
    h('section', { class: 'card', 'aria-labelledby': 'diagram' }, h('h2', { id: 'diagram' }, t('request.diagram')), timeline(record, words)),
    h('section', { class: 'card', 'aria-labelledby': 'story' }, h('h2', { id: 'story' }, t('request.story')),
      h('pre', { class: 'story', 'data-scrolls': true, tabindex: 0, role: 'region', 'aria-labelledby': 'story' }, story)),
  ];
}
