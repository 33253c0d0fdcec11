// Moments and durations. The page counts from the server's clock.
import { lang, t } from './i18n.js';

let ahead = 0; // of the server's clock, in ms

// set tells what time the server has.
export function set(moment) {
  ahead = new Date(moment).getTime() - Date.now();
}

export function now() {
  return Date.now() + ahead;
}

// span is a duration in its two largest units.
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ${t('unit.ms')}`;
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} ${t('unit.s')}`;
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  let rest = Math.round(ms / 1000);
  const parts = [];
  for (const [unit, length] of units) {
    const n = Math.floor(rest / length);
    rest %= length;
    if (n > 0 || parts.length) parts.push(n ? `${n} ${t(`unit.${unit}`)}` : '');
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(' ');
}

// moment is the time of day, with the date if it is another day.
export function moment(iso) {
  const at = new Date(iso);
  const day = at.toDateString() === new Date(now()).toDateString() ? {} : { month: 'short', day: 'numeric' };
  return at.toLocaleString(lang() === 'zh' ? 'zh-CN' : 'en-GB', { ...day, hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

const ticking = new Set();
setInterval(() => {
  for (const tick of ticking) tick();
}, 1000);

// every calls f each second, and returns what ends that.
export function every(f) {
  ticking.add(f);
  return () => ticking.delete(f);
}
