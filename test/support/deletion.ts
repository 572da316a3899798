/** Homes with sessions to delete, and deleting them without a server. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DeletedSession } from '../../src/writing/plan-deletion.ts';
import { commandHost, type TestHost } from './command-host.ts';
import { buildStore, type Row, S } from './stores.ts';

/** A session of the Web UI as its row in the store. */
export function W(id: string, columns: Readonly<Record<string, string | number | null>> = {}): Row {
  return S(id, { source: 'webui', ...columns });
}

/** A delegate of a session, as rows have it. */
export function D(id: string, of: string, columns: Readonly<Record<string, string | number | null>> = {}): Row {
  return W(id, { parent_session_id: of, model_config: JSON.stringify({ _delegate_from: of }), ...columns });
}

/** A home whose folder `sessions` has these files, by name and text. */
export function homeWith(rows: readonly Row[], artifacts: Readonly<Record<string, string>> = {}): string {
  const path = buildStore({ schema: 31, rows });
  const folder = join(dirname(path), 'sessions');
  if (Object.keys(artifacts).length > 0) mkdirSync(folder);
  for (const [name, text] of Object.entries(artifacts)) writeFileSync(join(folder, name), text);
  return path;
}

export function hostOf(path: string, options: Parameters<typeof commandHost>[1] = {}): TestHost {
  return Object.assign(commandHost(path, options), { cleanupWaitMs: 0 });
}

export interface Deleting {
  readonly scope?: 'SEGMENT' | 'LINEAGE';
  readonly expectedDeleteIds?: readonly string[] | null;
  readonly onlyIfEmpty?: boolean;
  readonly keepStateDb?: boolean;
  readonly force?: boolean;
  readonly checked?: Readonly<Record<string, string | null>> | null;
}

/** The input of the command `deleteSession`. */
export function deletionOf(sessionId: string, more: Deleting = {}) {
  const { scope = 'SEGMENT', expectedDeleteIds = null, onlyIfEmpty = false, ...webUi } = more;
  return {
    sessionId,
    scope,
    expectedDeleteIds,
    onlyIfEmpty,
    webUi: { keepStateDb: false, force: false, profiles: ['default'], checked: null, ...webUi },
  };
}

/** Deletes a session by whatever rules are right for it. */
export async function deleting(
  host: TestHost,
  sessionId: string,
  more: Deleting = {},
  envelope: { readonly dryRun?: boolean; readonly clientMutationId?: string } = {},
): Promise<DeletedSession> {
  return { webUi: null, ...(await host.run('deleteSession', deletionOf(sessionId, more), envelope)) };
}

/** Every session by id, with its parent. */
export function parentsOf(host: TestHost): Record<string, unknown> {
  return Object.fromEntries(host.rows('SELECT id, parent_session_id AS p FROM sessions ORDER BY id').map(({ id, p }) => [id, p]));
}

/** The names in the folder `sessions` of the home, without that of the lock. */
export function artifactsIn(host: Pick<TestHost, 'home'>): string[] {
  return namesBelow(join(host.home, 'sessions'));
}

/** Every file below a folder, by its path; none without the folder. */
export function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort();
  } catch {
    return [];
  }
}
