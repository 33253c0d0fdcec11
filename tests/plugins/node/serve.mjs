// The process boundary: what a plugin in any language does so that a host takes
// it for one. What a plugin is for is in the frames of its session alone.

import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import grpc from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import controllerProto from './controller.proto';
import healthProto from './health.proto';
import pluginProto from '../../../sdk/serve/proto/plugin.proto';

// What Hello.max_frame will say. No frame of this plugin comes near it.
const MAX_FRAME = 1 << 20;

const LIFELINE_FD = 3;

// serve announces a plugin and serves it until its host ends it or is gone. It
// is called once. manifest says what the plugin is; session gets the stream of
// frames, whose end is the process's end.
export function serve({ manifest, session }) {
  // The cookie is no secret. It spares people who start a plugin by hand a
  // process that waits for nobody.
  if (process.env.SPILLWAY_PLUGIN !== 'b6d4f6a1-llm-stream') {
    console.error('This is a plugin of spillway. Put it into the plugins folder of a profile.');
    process.exit(1);
  }
  process.on('SIGINT', () => {}); // Ctrl-C is for the host, which then drains its plugins
  watchLifeline();

  const server = new grpc.Server({ 'grpc.max_receive_message_length': MAX_FRAME });
  server.addService(service(healthProto, 'grpc.health.v1.Health'), {
    Check: ({ request }, answer) =>
      request.service === 'plugin'
        ? answer(null, { status: 'SERVING' })
        : answer({ code: grpc.status.NOT_FOUND, details: `no service "${request.service}"` }),
  });
  server.addService(service(controllerProto, 'plugin.GRPCController'), {
    // The end of the process is the answer.
    Shutdown: () => process.exit(0),
  });
  // Relay and Body are not served: this plugin looks neither at events nor at
  // prompts, so it never asks for them.
  server.addService(service(pluginProto, 'spillway.plugin.v1.Plugin'), {
    Describe: (_, answer) => answer(null, manifest),
    Session: (stream) => {
      stream.on('end', () => process.exit(0));
      stream.on('cancelled', () => process.exit(0));
      stream.on('error', (err) => {
        log('error', 'session', { err: err.message });
        process.exit(1);
      });
      session(stream);
    },
  });

  // The folder is made for this process and removed by the host.
  const socket = join(process.env.PLUGIN_UNIX_SOCKET_DIR, 'plugin.sock');
  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (err) => {
    if (err) {
      log('error', 'cannot listen', { socket, err: err.message });
      process.exit(1);
    }
    // go-plugin's own version, ours, where, how; no certificate.
    process.stdout.write(`1|1|unix|${socket}|grpc|\n`);
  });
}

// service is the definition of a service in a .proto text. Fields are written in
// camelCase; one that the .proto does not know is left out without a word. Numbers
// of 64 bits are strings: moments in nanoseconds are larger than JavaScript's
// integers.
function service(proto, name) {
  const { root } = protobuf.parse(proto);
  return fromJSON(root.toJSON(), { longs: String, enums: String, defaults: true, oneofs: true })[name];
}

// watchLifeline ends the process when the host is gone, however it went. Under a
// debugger there is no pipe at that number.
function watchLifeline() {
  if (!fstatSync(LIFELINE_FD).isFIFO()) {
    return; // Node's own descriptor
  }
  const lifeline = new Socket({ fd: LIFELINE_FD, readable: true, writable: false });
  lifeline.on('close', () => process.exit(0)).resume();
}

// log writes a line that the host logs with its level: debug, info, warn or
// error. Standard output is only for the handshake.
export function log(level, message, fields = {}) {
  const line = { '@level': level, '@message': message, '@timestamp': new Date().toISOString(), ...fields };
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
