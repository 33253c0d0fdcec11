// The status as it is drawn: vendors in the order in which they are tried, each with
// its routes and keys, and what stands against each.
import * as time from './time.js';

// model takes a status view apart. goes is the vendor to whom requests go now: one on
// trial gets a single one, unless there is nobody else.
export function model(view) {
  const plugins = view.status.plugins;
  const told = new Map(plugins.flatMap((p) => p.targets).map((s) => [s.target, { ...s, words: view.targets[s.target] }]));
  const orders = new Map(plugins.flatMap((p) => p.orders).filter((o) => !o.until || left(o.until) > 0).map((o) => [o.target, o]));
  const pinned = [...orders.values()].filter((o) => o.verb === 'pin').map((o) => o.target);
  const standing = (target) => ({ target, told: told.get(target), order: orders.get(target) });
  const vendors = ranked(view).map((provider) => vendor(provider, view, standing, [...told.keys(), ...orders.keys()]));
  for (const v of vendors) v.admits = admits(v, pinned);
  const goes = vendors.find((v) => v.admits === 'yes') ?? vendors.find((v) => v.admits === 'trial');
  return { vendors, orders, told: [...told.values()], goes };
}

// left is how long it is until a moment, in ms.
export function left(moment) {
  return new Date(moment).getTime() - time.now();
}

// shut reports whether nothing is let through: by a circuit that is open, or by a person.
export function shut({ told, order }) {
  return order?.verb === 'disable' || order?.verb === 'drain' || (told?.state === 'open' && !trial({ told }));
}

// trial reports whether the next request is a test.
export function trial({ told }) {
  return told?.state === 'half_open' || (told?.state === 'open' && left(told.until) <= 0);
}

// ranked are the providers by priority, then as the profile has them.
function ranked({ status, priority }) {
  const wished = priority.map((name) => name.split('/')[0]);
  const rank = (p) => (wished.includes(p.name) ? wished.indexOf(p.name) : wished.length);
  return [...status.providers].sort((a, b) => rank(a) - rank(b));
}

function vendor(provider, { priority }, standing, known) {
  const { name, models = [], keys = [] } = provider;
  const wished = priority.filter((p) => p.startsWith(`${name}/`));
  const first = wished.length > 0 ? wished : models.slice(0, 1).map((m) => `${name}/${m.id}`);
  const routes = new Set([...first, ...known.filter((target) => target.startsWith(`${name}/`))]);
  return {
    ...standing(name),
    name,
    first,
    routes: [...routes].map(standing),
    keys: keys.map((key) => ({
      ...standing(`${name}#${key}`),
      key,
      models: known.filter((target) => target.startsWith(`${name}#${key}/`)).map(standing),
    })),
    others: models.map((m) => `${name}/${m.id}`).filter((target) => !routes.has(target)),
  };
}

// admits is what a request would meet at a vendor: "yes", "trial" or "no".
function admits(v, pinned) {
  const own = (target) => target.split(/[/#]/)[0] === v.name;
  const routes = v.routes.filter((r) => (pinned.some(own) ? pinned.includes(r.target) || pinned.includes(v.name) : v.first.includes(r.target)));
  const open = routes.filter((r) => !shut(r) && usable(v.keys, r.target));
  if (shut(v) || (pinned.length > 0 && !pinned.some(own)) || (routes.length > 0 && open.length === 0)) return 'no';
  return trial(v) || (open.length > 0 && open.every(trial)) ? 'trial' : 'yes';
}

// usable reports whether some key can be used for a route. A vendor without keys is
// paid for by the caller.
function usable(keys, route) {
  const name = route.slice(route.indexOf('/'));
  return keys.length === 0 || keys.some((k) => !shut(k) && !k.models.some((m) => m.target.endsWith(name) && shut(m)));
}
