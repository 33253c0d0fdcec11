// The page's own words. What they say of failures comes from the server, in the
// same language.

const languages = ['en', 'zh'];
const stored = 'spillway.language';
const tables = {};

let language = localStorage.getItem(stored) ?? navigator.language.slice(0, 2).toLowerCase();
if (!languages.includes(language)) language = 'en';
document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';

// add takes in a table: key -> [English, Chinese].
export function add(table) {
  Object.assign(tables, table);
}

// t is a text in the page's language. {name} in it stands for values.name.
export function t(key, values = {}) {
  const text = tables[key]?.[languages.indexOf(language)] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// lang is the page's language, as the API takes it.
export function lang() {
  return language;
}

// setLang changes it, for good. The page is drawn anew.
export function setLang(next) {
  localStorage.setItem(stored, next);
  language = next;
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  document.dispatchEvent(new Event('languagechange'));
}
