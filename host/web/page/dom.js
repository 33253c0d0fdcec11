// Elements are made here and nowhere else, and text is text: what a vendor, a
// plugin or a person wrote can never become markup.

const SVG = 'http://www.w3.org/2000/svg';

// h makes an HTML element. An attribute on… with a function is a listener; null,
// undefined and false are left out, true is an empty one. Children are nodes, or
// become text; null and false are left out.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// s makes an SVG element.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...shown(children));
  return element;
}

// put replaces what an element holds.
export function put(element, ...children) {
  element.replaceChildren(...shown(children));
  return element;
}

function shown(children) {
  return children.flat(Infinity).filter((c) => c != null && c !== false);
}

// redraw runs draw, which makes the content of root anew, and gives the focus back to
// the element with the same data-key. What was unfolded stays unfolded.
export function redraw(root, draw) {
  const key = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const unfolded = [...root.querySelectorAll('details[open]')].map((d) => d.dataset.key);
  draw();
  for (const d of root.querySelectorAll('details')) d.open = unfolded.includes(d.dataset.key);
  if (key) keyed(key)?.focus({ preventScroll: true });
}

// keyed is the element with a data-key.
export function keyed(key) {
  return document.querySelector(`[data-key="${CSS.escape(key)}"]`);
}
