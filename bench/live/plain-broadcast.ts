/**
 * The plainest possible server for many subscribers: `ws`, and one text that goes to all of them at a pace. What remains beside it is what
 * following files, GraphQL and cursors cost.
 *
 *   node bench/live/plain-broadcast.ts --ready-file FILE --bytes 900 --hz 20
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';

const { values } = parseArgs({
  options: {
    'ready-file': { type: 'string', default: '' },
    bytes: { type: 'string', default: '900' },
    hz: { type: 'string', default: '20' },
  },
});
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
const padding = 'x'.repeat(Number(values.bytes));

server.on('listening', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}/`;
  writeFileSync(values['ready-file'], JSON.stringify({ url, graphql: url, port: address.port, pid: process.pid }));
});
setInterval(() => {
  const text = JSON.stringify({ at: new Date().toISOString(), padding });
  for (const client of server.clients) client.send(text);
}, 1000 / Number(values.hz));
