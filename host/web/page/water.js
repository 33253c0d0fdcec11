// The water in the picture of the waterfall: a river along the steps, which runs into
// the first that lets it in and past those that do not. The steps are HTML, so that
// they can be read and used; what is drawn here lies below them.
import { put, s } from './dom.js';
import { shape } from './state.js';

// river draws into svg, which covers falls. steps are the elements in order, each with
// {element, sign, tone, enters} of its gate, where enters is "yes", "no" or "trial", a
// trickle; end is the element below them, into which
// water runs that nobody takes.
export function river(svg, falls, source, steps, end) {
  const box = falls.getBoundingClientRect();
  const place = (element) => {
    const r = element.getBoundingClientRect();
    return { left: r.left - box.left, top: r.top - box.top, bottom: r.bottom - box.top };
  };
  const width = gutter(falls);
  const bed = [];
  const water = [];
  const trickles = [];
  const gates = [];
  let runs = true;
  const from = place(source);
  let [x, y] = [from.left + width, from.bottom - 2];
  for (const step of steps) {
    const p = place(step.element);
    const turn = p.left - width / 2;
    const sill = p.top + Math.min(30, (p.bottom - p.top) / 2);
    const reach = fall(x, y, turn, p.top - 6) + `V${sill}`;
    bed.push(reach);
    if (runs) water.push(reach);
    const branch = `M${turn} ${sill}H${p.left + 3}`;
    bed.push(branch);
    if (runs && step.enters === 'yes') water.push(branch);
    if (runs && step.enters === 'trial') trickles.push(branch);
    gates.push(gate(turn, sill, step));
    runs &&= step.enters !== 'yes';
    const down = `M${turn} ${sill}V${p.bottom + 2}`;
    if (step !== steps.at(-1) || end) {
      bed.push(down);
      if (runs) water.push(down);
    }
    [x, y] = [turn, p.bottom + 2];
  }
  if (end) {
    const p = place(end);
    const reach = fall(x, y, p.left + width, p.top + 2);
    bed.push(reach);
    if (runs) water.push(reach);
  }
  svg.setAttribute('viewBox', `0 0 ${box.width} ${box.height}`);
  put(svg,
    bed.map((d) => s('path', { class: 'bed', d })),
    water.map((d) => s('path', { class: 'flow', d })),
    water.map((d) => s('path', { class: 'ripple', d })),
    trickles.map((d) => s('path', { class: 'trickle', d })),
    gates);
}

// gutter is the room for the river beside a step.
function gutter(falls) {
  return Number.parseFloat(getComputedStyle(falls).getPropertyValue('--gutter')) * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

// fall leads from one place to another below it, which may lie aside.
function fall(x, y, toX, toY) {
  const half = (y + toY) / 2;
  return `M${x} ${y}C${x} ${half} ${toX} ${half} ${toX} ${toY}`;
}

function gate(x, y, { sign, tone }) {
  return s('g', { class: `gate ${tone}`, transform: `translate(${x} ${y})` },
    s('circle', { r: 11 }), s('g', { transform: 'translate(-7 -7) scale(.875)' }, shape(sign)));
}
