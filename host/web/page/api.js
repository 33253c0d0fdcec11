// Every call of the API goes through here.
import { lang } from './i18n.js';

// ApiError is a refusal, in the server's words.
export class ApiError extends Error {
  constructor(status, message, detail = {}) {
    super(message);
    this.status = status; // 0: nobody answered
    this.detail = detail; // what else the server says of it
  }
}

// how is what every question about something to be read carries.
export function how(parameters = {}) {
  const q = new URLSearchParams(parameters);
  q.set('lang', lang());
  q.set('tz', Intl.DateTimeFormat().resolvedOptions().timeZone ?? '');
  return q;
}

// get asks for JSON. parameters are the query, to which language and zone are added.
export function get(path, parameters) {
  return call('GET', `${path}?${how(parameters)}`);
}

// send changes something: method is POST, PUT or DELETE, body becomes JSON. headers
// are further ones. It returns the answer's JSON, null if there is none.
export function send(method, path, body, headers) {
  return call(method, `${path}?${how()}`, JSON.stringify(body ?? {}), { 'Content-Type': 'application/json', ...headers });
}

async function call(method, path, body, headers) {
  let response;
  try {
    response = await fetch(path, { method, body, headers, credentials: 'same-origin', cache: 'no-store' });
  } catch (error) {
    throw new ApiError(0, error.message);
  }
  const text = await response.text();
  const json = parsed(text);
  if (response.ok) return json;
  // Whoever needs the token is asked for it, whatever the view was about.
  if (response.status === 401) document.dispatchEvent(new Event('loginneeded'));
  throw new ApiError(response.status, json?.error?.message ?? `${response.status} ${response.statusText}`, json?.error);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
