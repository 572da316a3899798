/**
 * The plainest way to read the same files: every one of them read and parsed whole, in one process of its own. Told by message what to do, and
 * tells back how long it took in milliseconds.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type PlainOrder =
  | { readonly kind: 'LIST'; readonly sessionsDir: string }
  | { readonly kind: 'OPEN'; readonly path: string; readonly times: number }
  | { readonly kind: 'RENAME'; readonly path: string; readonly times: number };

process.on('message', (order: PlainOrder) => {
  process.send?.(
    order.kind === 'LIST' ? list(order.sessionsDir) : times(order.times, () => (order.kind === 'OPEN' ? open : rename)(order.path)),
  );
  process.disconnect();
});

function list(sessionsDir: string): number[] {
  const before = performance.now();
  const rows = readdirSync(sessionsDir)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { session_id, title, updated_at, messages } = open(join(sessionsDir, name));
      return { session_id, title, updated_at, count: messages.length };
    });
  rows.sort((a, b) => b.updated_at - a.updated_at);
  return [performance.now() - before];
}

function times(count: number, work: () => unknown): number[] {
  return Array.from({ length: count }, () => {
    const before = performance.now();
    work();
    return performance.now() - before;
  });
}

interface File {
  readonly session_id: string;
  readonly title: string;
  readonly updated_at: number;
  readonly messages: readonly unknown[];
}

function open(path: string): File {
  return JSON.parse(readFileSync(path, 'utf8')) as File;
}

function rename(path: string): void {
  writeFileSync(`${path}.tmp`, JSON.stringify({ ...open(path), title: `Renamed ${Math.random()}` }, null, 2));
  renameSync(`${path}.tmp`, path);
}
