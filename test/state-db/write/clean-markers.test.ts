/** Texts that are only the name of a tool, emptied (`spec/state-db-writes.md` M6). */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { commandHost, type TestHost } from '../../support/command-host.ts';
import { buildStore, M, type Row, S, type SchemaVersion } from '../../support/stores.ts';

let host: TestHost;
afterEach(() => host.close());

const CALLS = '[{"id": "c"}]';
const marker = (columns: Row['columns'] = {}) => M('s', { role: 'assistant', content: ' [read_file]\n', tool_calls: CALLS, ...columns });
const ROWS = [
  marker({ timestamp: 5, active: 0, compacted: 1 }),
  M('s', { content: 'between' }),
  marker({ timestamp: 5, finish_reason: 'tool_calls' }),
  marker({ content: '[read_file] and more' }),
  marker({ content: '[two words]' }),
  marker({ tool_calls: '[]' }),
  marker({ tool_calls: null }),
  marker({ role: 'user' }),
];

function open(schema: SchemaVersion = 31): void {
  host = commandHost(buildStore({ schema, rows: [S('s'), ...ROWS] }), { now: 1_780_000_000 });
}
const clean = (
  more: { backup?: boolean; expectedRowIds?: string[] } = {},
  envelope: { dryRun?: boolean; clientMutationId?: string } = {},
) => host.run('cleanMarkers', { backup: more.backup ?? false, expectedRowIds: more.expectedRowIds ?? null }, envelope);
const contents = () => host.rows('SELECT content FROM messages ORDER BY id').map(({ content }) => content);

describe('markers', () => {
  for (const schema of [22, 26, 31] as const) {
    it(`are emptied where they are the whole text beside calls, in a store of schema ${schema}`, async () => {
      open(schema);
      expect(await clean({}, { dryRun: true })).toEqual({ rowIds: ['1', '3'], backupName: null });
      expect(contents()[0]).toBe(' [read_file]\n');
      expect(await clean()).toEqual({ rowIds: ['1', '3'], backupName: null });
      const rest = ['[read_file] and more', '[two words]', ' [read_file]\n', ' [read_file]\n', ' [read_file]\n'];
      expect(contents()).toEqual(['', 'between', '', ...rest]);
      expect(await clean()).toEqual({ rowIds: [], backupName: null });
    });
  }

  it('leave the display order as it was', async () => {
    open();
    await clean();
    const slots = host.rows('SELECT display_order AS slot, display_identity IS NULL AS lacking FROM messages ORDER BY id');
    expect(slots.slice(0, 3)).toEqual([
      { slot: 1, lacking: 0 },
      { slot: 2, lacking: 0 },
      { slot: 1, lacking: 0 },
    ]);
  });

  it('are cleaned behind a copy of the store, which only its owner can read, and only when there are any', async () => {
    open();
    const { backupName } = await clean({ backup: true }, { clientMutationId: 'x' });
    expect(backupName).toBe('state.db.pre-clean-markers-backup-20260528-202640');
    const copy = join(dirname(host.path), String(backupName));
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const db = new Database(copy, { readonly: true });
    expect(db.prepare('SELECT content FROM messages WHERE id = 1').pluck().get()).toBe(' [read_file]\n');
    db.close();
    expect(await clean({ backup: true }, { clientMutationId: 'x' })).toEqual({ rowIds: ['1', '3'], backupName });
    host.clock.now += 60;
    expect(await clean({ backup: true })).toEqual({ rowIds: [], backupName: null });
  });

  it('are not cleaned without the copy that was asked for', async () => {
    open();
    const { backupName } = await clean({ backup: true }).then(async (first) => {
      host.otherwise("UPDATE messages SET content = '[terminal]' WHERE id = 3");
      return first;
    });
    // The same second: the name is taken, and a copy is never written over.
    await expect(clean({ backup: true })).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
    expect(contents()[2]).toBe('[terminal]');
    expect(existsSync(join(dirname(host.path), String(backupName)))).toBe(true);
  });

  it('are those of the preview, or nothing is done', async () => {
    open();
    await expect(clean({ expectedRowIds: ['1'] })).rejects.toMatchObject({ code: 'SET_CHANGED', details: { rowIds: ['1', '3'] } });
    expect(await clean({ expectedRowIds: ['3', '1'] })).toMatchObject({ rowIds: ['1', '3'] });
  });
});
