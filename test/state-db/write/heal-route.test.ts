/** Routes put right after a compression (`spec/state-db-writes.md` R3 to R6). */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, type Row, S, type SchemaVersion, T } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

const CHAIN = [S('a', { ended_at: 150, end_reason: 'compression' }), S('b', { parent_session_id: 'a' }), S('x')];
const entry = (id: string, scope = '') =>
  T('gateway_routing', {
    scope,
    session_key: 'k',
    entry_json: `{"session_key": "k", "session_id": "${id}", "updated_at": "2026-01-01", "cost": 1.0, "name": "\\u00e9"}`,
    updated_at: 7,
  });

function open(rows: readonly Row[], schema: SchemaVersion = 31): TestHost {
  host = commandHost(buildStore({ schema, rows: [...CHAIN, ...rows] }));
  return host;
}
const heal = (expectedSessionId = 'a', scope: string | null = null, dryRun = false) =>
  host.run('healCompressionRoute', { sessionKey: 'k', expectedSessionId, scope }, { dryRun });
const routes = () => host.rows('SELECT scope, entry_json AS entry, updated_at AS at FROM gateway_routing ORDER BY scope');

describe('a route', () => {
  it('follows its conversation, and keeps everything else', async () => {
    open([entry('a')]);
    expect(await heal('a', null, true)).toMatchObject({ changed: true });
    expect(routes()[0]?.entry).toContain('"session_id": "a"');
    expect(await heal()).toMatchObject({ sessionId: 'b', changed: true });
    expect(routes()).toEqual([
      {
        scope: '',
        entry: '{"session_key": "k", "session_id": "b", "updated_at": "2026-01-01", "cost": 1.0, "name": "\\u00e9"}',
        at: 7,
      },
    ]);
    expect(await heal()).toMatchObject({ sessionId: 'b', changed: false });
    expect(await heal('b')).toMatchObject({ sessionId: 'b', changed: false });
  });

  it('that leads elsewhere by now is left alone', async () => {
    open([entry('x')]);
    await expect(heal()).rejects.toMatchObject({ code: 'ROUTE_MOVED', details: { sessionId: 'x' } });
    expect(routes()[0]?.entry).toContain('"session_id": "x"');
  });

  it('is left to a gateway that runs', async () => {
    open([entry('a'), T('gateway_heartbeats', { backend_id: 'g', pid: 1, started_at: 1, last_heartbeat: 910 })]);
    await expect(heal()).rejects.toMatchObject({ code: 'GATEWAY_ONLINE', retryable: true });
    await expect(heal('a', null, true)).rejects.toMatchObject({ code: 'GATEWAY_ONLINE' });
    host.clock.now = 1000.5;
    expect(await heal()).toMatchObject({ changed: true });
  });

  it('is named with its index where several have the key', async () => {
    open([entry('a', '/one'), entry('a', '/two')]);
    await expect(heal()).rejects.toMatchObject({ code: 'VALIDATION' });
    expect(await heal('a', '/two')).toMatchObject({ scope: '/two', changed: true });
    expect(routes().map(({ entry: text }) => String(text).includes('"b"'))).toEqual([false, true]);
  });

  it('has to exist', async () => {
    open([]);
    await expect(heal()).rejects.toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    host.close();
    open([], 16);
    await expect(heal()).rejects.toMatchObject({ code: 'SCHEMA_UNSUPPORTED' });
  });

  it('is put right in the copy beside the transcripts too', async () => {
    open([entry('a')]);
    const folder = join(host.home, 'sessions');
    const copy = join(folder, 'sessions.json');
    mkdirSync(folder);
    writeFileSync(copy, '{"_note": "a", "k": {"session_id": "a", "cost": 1.0}, "l": {"session_id": "a"}}');
    await heal();
    expect(readFileSync(copy, 'utf8')).toBe('{"_note": "a", "k": {"session_id": "b", "cost": 1.0}, "l": {"session_id": "a"}}');
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['sessions.json']);
  });

  it('whose copy is damaged is put right all the same', async () => {
    open([entry('a')]);
    mkdirSync(join(host.home, 'sessions'));
    const copy = join(host.home, 'sessions', 'sessions.json');
    writeFileSync(copy, '{"k": ');
    expect(await heal()).toMatchObject({ changed: true });
    expect(readFileSync(copy, 'utf8')).toBe('{"k": ');
  });
});
