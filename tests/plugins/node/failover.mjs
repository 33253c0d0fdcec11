#!/usr/bin/env node
// A small failover: a call that fails before anything visible came is made once
// more, on the route of the setting "second". It is the reference for authors of
// plugins in other languages; plugin.proto tells what each frame means.
//
// The host runs a private copy of one file, so everything is bundled into it:
//
//   npm ci
//   npm run build -- --outfile=PROFILE/plugins/node-failover
//
// and, in the profile:
//
//   - {id: node-failover, name: node-failover, config: {second: deepseek/deepseek-flash}}

import { log, serve } from './serve.mjs';

const seconds = (n) => String(n * 1e9); // durations are in nanoseconds

// manifest must not depend on anything outside this file: hosts keep it.
const manifest = {
  name: 'node-failover',
  version: '0.1.0',
  minor: 1,
  schema: Buffer.from(
    JSON.stringify({
      type: 'object',
      additionalProperties: false,
      required: ['second'],
      properties: {
        second: { type: 'string', pattern: '^[^/]+/.', 'x-volatile': true },
      },
    }),
  ),
  maxDepth: 0, // the calls that we re-enter pass us by
  onDown: 'wait', // for the next process: Node starts in half a second,
  wait: seconds(10), // on a busy machine in several
  decide: seconds(2),
};

// hopeless are the failures that no other vendor would cure: the request's own
// fault, the caller's, or this machine's.
const hopeless = new Set([
  'CONTEXT_WINDOW_EXCEEDED', 'POLICY', 'INVALID_REQUEST', 'ABORTED',
  'UNKNOWN_MODEL', 'NO_ADAPTER', 'LOCAL_NETWORK', 'PLUGIN',
]);

// session answers the frames of the one session of this process, each to its end
// before the next. Nothing here waits, so pings are answered in time.
function session(stream) {
  const send = (frame, call = '0') => stream.write({ call, ...frame });
  const turns = new Map(); // by the host's number of the call
  let catalogue = { providers: [] };
  let spare; // the second route

  const configure = ({ revision, config }) => {
    const { route, fault } = parseRoute(JSON.parse(config).second, catalogue);
    spare = route ?? spare; // with a fault the old settings stay in force
    send({ configured: { revision, faults: fault ? [fault] : [] } });
  };

  // proceed uses the turn we hold: it orders the next attempt, or gives up with
  // the failure that the caller would have seen without us.
  const proceed = (call, turn) => {
    const failure = turn.failures.at(-1);
    const route = turn.routes[turn.failures.length];
    const stop = !route || hopeless.has(failure?.code);
    if (failure) {
      send({ decision: decision(turn, failure, stop ? undefined : route) });
    }
    if (stop) {
      turns.delete(call);
      send({ finish: { failure: turn.failures[0] } }, call);
      return;
    }
    send({ attempt: attempt(turn, route, failure) }, call);
    turn.nextSpent = true;
  };

  const frames = {
    hello: ({ epoch }) => log('info', 'session', { epoch }),
    catalogue: (c) => (catalogue = c),
    configure,
    settings: configure,

    open(open, call) {
      const head = open.view.route;
      const turn = {
        ...open, // id, view, nextSpent, and past:
        failures: open.past.map((p) => p.failure), // what a lost predecessor has tried
        routes: same(head, spare) ? [head] : [head, spare],
      };
      turns.set(call, turn);
      proceed(call, turn);
    },
    ended({ failure }, call) {
      const turn = turns.get(call);
      if (turn) {
        turn.failures.push(failure);
        proceed(call, turn);
      }
    },
    committed: (_, call) => turns.delete(call), // the answer flows; its outcome follows
    cancel: (_, call) => turns.delete(call),
    outcome({ seq, route, failure }) {
      log('debug', 'outcome', { route: name(route), code: failure?.code ?? 'ok' });
      send({ ack: { seq } });
    },

    ping: ({ id }) => send({ pong: { id } }),
    drain: () => send({ drained: {} }), // nothing of ours is left to be written
  };
  // A frame of a newer host has no name here, and is ignored.
  stream.on('data', (message) => frames[message.frame]?.(message[message.frame], message.call));
}

// attempt is the order for the next attempt of a turn. Next can be used once in
// a turn; after that the whole chain is entered again, one level deeper.
function attempt(turn, route, failure) {
  return {
    attempt: turn.failures.length + 1,
    reenter: turn.nextSpent,
    route,
    dispatch: failure
      ? { ...turn.view.dispatch, key: '', delay: '0', kind: action(turn, route), reason: failure.code }
      : turn.view.dispatch, // as a listener before us wants it
    commit: 'FIRST_VISIBLE',
  };
}

// decision tells "spillway explain" what we made of a failure.
function decision(turn, failure, target) {
  return {
    id: turn.id,
    attempt: failure.attempt,
    code: failure.code,
    scope: failure.scope,
    rule: failure.rule,
    action: target ? action(turn, target) : 'stop',
    target,
  };
}

// action is what going on to route means, in the words of the host.
const action = (turn, route) => (route.model === turn.view.route.model ? 'failover' : 'fallback');

const name = (route) => `${route.provider}/${route.model}`;
const same = (a, b) => name(a) === name(b);

// parseRoute reads "provider/model". The schema has been checked by the host;
// which providers there are only we can compare with.
function parseRoute(text, catalogue) {
  const slash = text.indexOf('/');
  const route = { provider: text.slice(0, slash), model: text.slice(slash + 1) };
  const providers = catalogue.providers.map((p) => p.name);
  if (providers.includes(route.provider)) {
    return { route };
  }
  return { fault: { path: 'second', value: text, message: 'there is no such provider', allowed: providers.join(', ') } };
}

serve({ manifest, session });
