// What happens, as it happens: one stream of events for the whole page. It is
// closed while nobody looks.
import { get, how } from './api.js';
import * as time from './time.js';

let source = null;
let retry = 0;
let pause = 0; // ms before the next try; grows while they fail
let latest = null;

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

// view is the last status, null before the first. Whenever there is another the
// document gets the event "status"; "request" comes with the summary of each request
// that has ended, "connection" with whether the server is there.
export function view() {
  return latest;
}

export function open() {
  close();
  if (document.hidden) return;
  const mine = new EventSource(`api/events?${how()}`);
  source = mine;
  mine.addEventListener('open', () => {
    pause = 0;
    tell('connection', true);
  });
  mine.addEventListener('status', (e) => take(JSON.parse(e.data)));
  mine.addEventListener('request', (e) => tell('request', JSON.parse(e.data)));
  mine.addEventListener('error', () => {
    if (mine !== source) return;
    close();
    tell('connection', false);
    later();
  });
}

// again finds out why there is no stream, which an EventSource does not tell.
async function again() {
  try {
    take(await get('api/status'));
    open();
  } catch (error) {
    if (error.status !== 401) later();
  }
}

function later() {
  retry = setTimeout(again, pause);
  pause = Math.min(Math.max(pause * 2, 250), 5000);
}

function take(message) {
  time.set(message.now);
  latest = message.view;
  tell('status', latest);
}

export function close() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
