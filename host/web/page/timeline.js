// When each attempt of a request ran: a bar each, on one axis.
import { h, s } from './dom.js';
import { t } from './i18n.js';
import { countdown, pill } from './state.js';
import * as time from './time.js';

const signs = { good: 'ok', open: 'trial', bad: 'off' };

// timeline draws a record with its words.
export function timeline(record, words) {
  const whole = length(record);
  return h('figure', { class: 'timeline', 'aria-label': t('request.diagram') },
    h('ol', {}, record.attempts.map((a, i) => attempt(a, words.attempts[i], record, whole))),
    words.skipped.length > 0 && h('ul', { class: 'notes' }, words.skipped.map(passed)),
    record.attempts.length > 0 && axis(whole),
    record.attempts.length > 0 && h('figcaption', {}, ['held', 'waiting', 'flows'].map((kind) => h('span', {},
      s('svg', { class: 'swatch', 'aria-hidden': 'true' }, s('rect', { class: kind, width: '100%', height: '100%' })), words[kind]))));
}

// length is how long the request ran, in ms, at least to the end of its last attempt.
function length(record) {
  const ends = record.attempts.filter((a) => a.sent).map((a) => offset(a, record) + a.took_ms);
  return Math.max(record.took_ms, ...ends, 1);
}

function offset(a, record) {
  return new Date(a.sent) - new Date(record.started);
}

function attempt(a, words, record, whole) {
  return h('li', { class: words.tone },
    h('div', { class: 'title' }, h('span', { class: 'rank' }, a.n), h('span', { class: 'says' }, words.title),
      pill({ sign: signs[words.tone], tone: words.tone, word: words.outcome })),
    h('ul', { class: 'notes' }, words.skipped.map(passed)),
    a.sent && bar(a, record, whole),
    h('p', { class: 'soft' }, took(a), a.key && [' · ', h('code', {}, a.key)]),
    h('ul', { class: 'notes' }, words.circuits.map(moved)));
}

// least is the width of the shortest part of a bar, in percent.
const least = 0.7;

function bar(a, record, whole) {
  const at = (ms) => Math.min(Math.max(ms / whole, 0), 1) * 100;
  const start = Math.min(at(offset(a, record)), 100 - least);
  const end = Math.max(at(offset(a, record) + a.took_ms), start + least);
  const held = Math.min(at(offset(a, record) - (a.delay_ms ?? 0)), start);
  const content = a.ttfc_ms ? Math.min(at(offset(a, record) + a.ttfc_ms), end - least / 2) : end;
  const part = (kind, from, to) => to > from && s('rect', { class: kind, x: `${from}%`, width: `${to - from}%`, y: 3, height: 18 });
  return s('svg', { class: 'bar', role: 'img', 'aria-label': took(a) },
    s('rect', { class: 'track', width: '100%', height: 24, rx: 4 }),
    part('held', held, start), part('waiting', start, content), part('flows', content, end),
    s('rect', { class: 'mark', x: `${end}%`, width: 3, height: 24 }));
}

// took tells a bar in words.
function took(a) {
  if (!a.sent) return t('attempt.unsent');
  return [
    a.delay_ms && t('attempt.held', { span: time.span(a.delay_ms) }),
    a.ttfc_ms && t('attempt.content', { span: time.span(a.ttfc_ms) }),
    t('attempt.took', { span: time.span(a.took_ms) }),
  ].filter(Boolean).join(t('comma'));
}

function passed({ route, why }) {
  return h('li', { class: 'passed' }, t('attempt.passed'), h('span', { class: 'mono' }, route), why && `: ${why}`);
}

function moved({ target, state, tone, until }) {
  const ahead = until && new Date(until) > time.now();
  return h('li', { class: 'moved' }, pill({ sign: { good: 'ok', open: 'trial', bad: 'paused' }[tone], tone, word: state }), ' ', target,
    until && [t('comma'), t('attempt.until', { moment: time.moment(until) }), ahead && [' (', countdown(until), ')']]);
}

// axis has round numbers, three to six of them.
function axis(whole) {
  const power = 10 ** Math.floor(Math.log10(whole));
  const unit = [0.2, 0.5, 1, 2].map((x) => x * power).find((x) => whole / x <= 6);
  const ticks = Array.from({ length: Math.floor(whole / unit) + 1 }, (_, i) => i * unit);
  return s('svg', { class: 'axis', 'aria-hidden': 'true' }, ticks.map((at) => [
    s('rect', { class: 'tick', x: `${(at / whole) * 100}%`, width: 1, height: 6 }),
    s('text', { x: `${(at / whole) * 100}%`, y: 20, 'text-anchor': at === 0 ? 'start' : at / whole > 0.95 ? 'end' : 'middle' }, time.span(at)),
  ]));
}
