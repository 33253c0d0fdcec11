// The frame: navigation, language, theme, login, and which view is shown.
//
// A view is {name, open(main, where)}: name is its hash (#name), the key
// nav.name has its title, open draws into main and returns what ends it (listeners,
// timers). where has the rest of the hash: where.path, an array of what follows the
// name (#requests/req_1 -> ["req_1"]), and where.query, a URLSearchParams. A view is
// opened anew when the hash, or the language, changes.
import { h, put } from './dom.js';
import { lang, setLang, t } from './i18n.js';
import './words.js';
import * as live from './live.js';
import { login } from './login.js';
import * as plugins from './plugins.js';
import * as requests from './requests.js';
import * as settings from './settings.js';
import * as status from './status.js';

const views = [status.view, requests.view, settings.view, plugins.view];

const main = document.getElementById('main');
const skip = document.getElementById('skip');
let close = () => {};
let connected = false;
let loggingIn = false;

// where takes the hash apart.
function where() {
  const [path, query] = location.hash.slice(1).split('?', 2);
  const [name, ...rest] = path.split('/').map(decodeURIComponent);
  return { name, path: rest, query: new URLSearchParams(query) };
}

function current() {
  return views.find((v) => v.name === where().name) ?? views[0];
}

function draw() {
  if (loggingIn) return;
  close();
  const view = current();
  document.title = `${t(`nav.${view.name}`)} · spillway`;
  frame();
  put(main);
  close = view.open(main, where()) ?? (() => {});
}

function frame() {
  put(skip, t('frame.skip'));
  const nav = document.getElementById('nav');
  nav.setAttribute('aria-label', t('frame.views'));
  put(nav, views.map((v) => h('a', { href: `#${v.name}`, 'aria-current': v === current() ? 'page' : null }, t(`nav.${v.name}`))));
  const other = lang() === 'zh' ? 'en' : 'zh';
  put(document.getElementById('tools'),
    h('span', { id: 'connection' }),
    h('button', { type: 'button', class: 'quiet', id: 'theme', onclick: nextTheme }, t(`theme.${theme()}`)),
    h('button', { type: 'button', class: 'quiet', id: 'language', lang: other === 'zh' ? 'zh-CN' : 'en', onclick: () => setLang(other) }, t('frame.otherLanguage')));
  showConnection();
}

function showConnection() {
  const shown = document.getElementById('connection');
  shown.hidden = loggingIn; // it is there, and wants the token
  shown.className = connected ? 'on' : 'off';
  put(shown, connected ? t('frame.live') : t('frame.lost'));
}

// The theme is the system's unless somebody chose another.
const themes = ['auto', 'light', 'dark'];

function theme() {
  return themes.includes(localStorage.getItem('spillway.theme')) ? localStorage.getItem('spillway.theme') : 'auto';
}

function nextTheme() {
  localStorage.setItem('spillway.theme', themes[(themes.indexOf(theme()) + 1) % themes.length]);
  document.documentElement.dataset.theme = theme();
  frame();
  document.getElementById('theme').focus();
}

document.documentElement.dataset.theme = theme();

skip.addEventListener('click', (event) => {
  event.preventDefault(); // the hash names the view
  main.focus();
});
window.addEventListener('hashchange', () => {
  draw();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.addEventListener('languagechange', () => {
  draw();
  document.getElementById('language').focus();
  live.open();
});
document.addEventListener('connection', (event) => {
  connected = event.detail;
  showConnection();
});
document.addEventListener('loginneeded', async () => {
  if (loggingIn) return;
  loggingIn = true;
  close();
  close = () => {};
  live.close();
  showConnection();
  await login(main);
  loggingIn = false;
  draw();
  live.open();
});

draw();
live.open();
