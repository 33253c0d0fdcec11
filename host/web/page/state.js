// How a state looks: a shape and a word, never a colour alone.
import { h, s } from './dom.js';
import { left, shut, trial } from './model.js';
import * as time from './time.js';

const shapes = {
  ok: 'M3 8.5l3.5 3.5L13 5',
  trial: 'M5 3h6M5 13h6M6 3c0 5 4 5 4 10M10 3c0 5-4 5-4 10',
  paused: 'M5.5 3v10M10.5 3v10',
  off: 'M4 4l8 8M12 4l-8 8',
  pin: 'M8 9v5M4.5 9h7M6 9V3h4v6',
  drain: 'M8 2v9M4.5 8L8 11.5 11.5 8M3 14h10',
  detour: 'M2 12h3c4 0 2-8 6-8h3M11 1l3 3-3 3',
};

// shape is the sign of a look, 16 by 16.
export function shape(sign) {
  return s('path', { d: shapes[sign] });
}

// look is a target's state: its sign, tone, word, and the moment until which it holds.
// The words are those of the view, the server's.
export function look(standing, { states, verbs }) {
  const { told, order } = standing;
  if (order?.verb === 'disable') return { sign: 'off', tone: 'off', word: verbs.disable, until: order.until };
  if (order?.verb === 'drain') return { sign: 'drain', tone: 'off', word: verbs.drain, until: order.until };
  if (shut(standing)) return { sign: 'paused', tone: 'bad', word: states.open, until: told.until };
  if (trial(standing)) return { sign: 'trial', tone: 'open', word: states.half_open };
  if (order?.verb === 'pin') return { sign: 'pin', tone: 'good', word: verbs.pin, until: order.until };
  return { sign: 'ok', tone: 'good', word: states.closed };
}

// pill shows a look, with what is left of it.
export function pill({ sign, tone, word, until }) {
  return h('span', { class: `pill ${tone}` },
    s('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, shape(sign)), word, until && countdown(until));
}

// countdown counts to a moment by itself, see tick.
export function countdown(until) {
  return h('time', { class: 'countdown', datetime: until }, time.span(Math.max(left(until), 0)));
}

// tick moves the countdowns below root on. It reports whether one has ended.
export function tick(root) {
  let ended = false;
  for (const c of root.querySelectorAll('time.countdown')) {
    const rest = left(c.dateTime);
    c.textContent = time.span(Math.max(rest, 0));
    ended ||= rest <= 0;
  }
  return ended;
}
