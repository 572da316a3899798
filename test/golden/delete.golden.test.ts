/** Deletions of a session's rows and journals, against upstream's own functions. */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestHost } from '../support/command-host.ts';
import { deleting, hostOf } from '../support/deletion.ts';
import { fixturesDir, type GoldenCase, loadGolden } from '../support/golden.ts';
import { temporaryFolder } from '../support/stores.ts';
import { type Verdict, verdict } from './compare.ts';
import { documentedCases } from './deviations.ts';

const FUNCTIONS = ['delete_cli_session', 'delete_run_journal', 'delete_turn_journal'];

/** A fresh copy of the home for each case, as upstream had. */
async function judged({ function: name, args }: GoldenCase): Promise<unknown> {
  const home = join(temporaryFolder(), 'home');
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
  const host = hostOf(join(home, 'state.db'));
  try {
    if (name === 'delete_cli_session') return await deletedRows(host, String(args.sid));
    const sessionId = String(args.session_id);
    const command = name === 'delete_run_journal' ? 'deleteRunJournal' : 'deleteTurnJournal';
    const { removed, files } = await host.run(command, { sessionId });
    expect(await host.run(command, { sessionId })).toMatchObject({ removed: false, files: 0, bytes: 0 });
    if (name === 'delete_run_journal') expect(existsSync(join(host.webUiDir, 'sessions', '_run_journal', sessionId))).toBe(false);
    return name === 'delete_run_journal' ? removed : files;
  } finally {
    host.close();
  }
}

/** An id without a session is no error for upstream's function: it is absent afterwards. */
async function deletedRows(host: TestHost, id: string): Promise<unknown> {
  const returned = await deleting(host, id).then(
    ({ webUi }) => webUi === null || webUi.pendingIds.length + webUi.pendingArtifacts.length + webUi.blockedManifests.length === 0,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'NOT_FOUND',
  );
  const count = (sql: string) => Number(host.rows(sql, id)[0]?.n);
  return {
    returned,
    session_left: count('SELECT COUNT(*) AS n FROM sessions WHERE id = ?'),
    messages_left: count('SELECT COUNT(*) AS n FROM messages WHERE session_id = ?'),
  };
}

describe('upstream agrees on recovery_ops of webui-home:', () => {
  it('every deletion is equal or a documented deviation', async () => {
    const cases = loadGolden('webui-home', 'recovery_ops').cases.filter((golden) => FUNCTIONS.includes(golden.function ?? ''));
    expect(cases).toHaveLength(8);
    const counts: Record<string, number> = {};
    for (const golden of cases) {
      const found: Verdict = verdict(await judged(golden), golden.result);
      if ('difference' in found) expect(found.difference, `${golden.function} ${JSON.stringify(golden.args)}`).toBe('');
      else for (const id of found.deviations) counts[id] = (counts[id] ?? 0) + 1;
    }
    const documented = Object.entries(documentedCases('recovery_ops', 'webui-home')).filter(([id]) => id.startsWith('delete-'));
    expect(counts).toEqual(Object.fromEntries(documented));
  });
});
