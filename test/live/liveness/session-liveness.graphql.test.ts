/** `Session.liveness` of sessions that the Web UI runs, over GraphQL. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeJournal } from '../../support/journal-lines.ts';
import { startInProcess, type TestServer } from '../../support/server.ts';
import { type Fields, saveSidecar, sidecarPath, sidecarText, writeTurns } from '../../support/sidecars.ts';
import { type Columns, M, type Row, S, T } from '../../support/stores.ts';

interface Verdict {
  readonly state: string;
  readonly certainty: string;
  readonly evidence: readonly string[];
  readonly lastSignalAt: string | null;
}

const QUERY = `query Liveness($profile: String) {
  sessions(profile: $profile, first: 100, collapse: NONE, filter: { includeEmpty: true }) {
    nodes { sessionId liveness { state certainty evidence lastSignalAt } }
  }
}`;

const NOW = Date.now() / 1000;
/** A process that has ended. */
const GONE_PID = spawnSync('sh', ['-c', 'exit 0']).pid;

const SESSIONS = [
  'plain',
  'idle',
  'crashed',
  'leased',
  'taken',
  'reused',
  'running',
  'silent',
  'starting',
  'suspect',
  'lost',
  'torn',
  'work',
  'over',
  'many',
  'child',
  'parent',
];
const lease = (id: string, pid: number) =>
  T('session_turn_leases', { conversation_id: id, holder: `pid=${pid}:platform=webui`, acquired_at: NOW - 20, expires_at: NOW + 280 });
const ROTATED: Readonly<Record<string, Columns>> = {
  parent: { ended_at: NOW - 8000, end_reason: 'compression' },
  child: { started_at: NOW - 8000, parent_session_id: 'parent' },
};
const rows: Row[] = [
  ...SESSIONS.flatMap((id) => [
    S(id, { source: 'webui', started_at: NOW - 9000, ...ROTATED[id] }),
    M(id, { content: id, timestamp: NOW - 9000 }),
  ]),
  lease('leased', GONE_PID),
  lease('taken', process.pid),
];

let server: TestServer;
let sessionsDir: string;
let byId: Map<string, Verdict>;

beforeAll(async () => {
  server = await startInProcess({ rows, profiles: { work: { rows: [S('work', { started_at: NOW - 9000 }), M('work')] } } });
  sessionsDir = join(server.home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  owned('crashed', GONE_PID, { journalAge: 10 });
  owned('leased', GONE_PID, { journalAge: 10 });
  owned('taken', GONE_PID, { journalAge: 10 });
  owned('reused', process.pid, { journalAge: 10, startedAt: NOW - 86_400 * 365 });
  owned('running', process.pid, { journalAge: 5 });
  owned('silent', process.pid, { journalAge: 1200 });
  owned('starting', process.pid, { journalAge: null });
  owned('suspect', null, { journalAge: 120, startedAt: NOW - 3000 });
  owned('lost', null, { journalAge: 4000, startedAt: NOW - 5000 });
  owned('torn', process.pid, { journalAge: 5 });
  writeFileSync(sidecarPath(sessionsDir, 'torn'), '{"active_stream_id": "torn-run", "tit');
  owned('work', process.pid, { journalAge: 5, fields: { profile: 'work' } });
  owned('over', process.pid, { journalAge: 5, end: 'apperror' });
  owned('many', process.pid, { journalAge: 5, fields: { profile: 'default', pending_user_message: 'x'.repeat(200_000) } });
  saveSidecar(sessionsDir, 'idle', sidecarText('idle'));
  // The run began in the parent, and its files stay there.
  owned('parent', process.pid, { journalAge: 5 });
  saveSidecar(sessionsDir, 'parent', sidecarText('parent', { pre_compression_snapshot: true }));
  saveSidecar(sessionsDir, 'child', sidecarText('child', { active_stream_id: 'parent-run', parent_session_id: 'parent' }));
  byId = await verdicts();
});

async function verdicts(profile?: string): Promise<Map<string, Verdict>> {
  const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; liveness: Verdict }[] } }, unknown>(QUERY, { profile });
  return new Map(sessions.nodes.map(({ sessionId, liveness }) => [sessionId, liveness]));
}

interface Owned {
  /** Seconds since the journal grew; null for none. */
  readonly journalAge: number | null;
  readonly startedAt?: number;
  readonly fields?: Fields;
  readonly end?: string;
}

/** A session that the Web UI's file says is running, as the process with this id left it. */
function owned(id: string, pid: number | null, { journalAge, startedAt = NOW - 1, fields = {}, end }: Owned): void {
  const runId = `${id}-run`;
  saveSidecar(
    sessionsDir,
    id,
    sidecarText(id, { active_stream_id: runId, pending_started_at: startedAt, pending_user_message: 'go', ...fields }),
  );
  if (pid !== null) {
    const line = { turn_id: `${id}-turn`, stream_id: runId };
    writeTurns(sessionsDir, id, pid, [
      { event: 'submitted', created_at: startedAt, content: 'go', ...line },
      { event: 'worker_started', created_at: startedAt + 0.1, ...line },
    ]);
  }
  if (journalAge === null) return;
  const createdAt = NOW - journalAge;
  writeJournal({ root: join(sessionsDir, '_run_journal'), sessionId: id, runId }, [
    { event: 'token', payload: { text: 'x' }, createdAt },
    ...(end === undefined ? [] : [{ event: end, createdAt }]),
  ]);
}

describe('a session of the Web UI', () => {
  it.each([
    ['running', 'LIVE', 'CERTAIN'],
    ['silent', 'LIVE', 'CERTAIN'],
    ['starting', 'STARTING', 'CERTAIN'],
    ['many', 'LIVE', 'CERTAIN'],
  ])('whose process lives is live: %s', (id, state, certainty) => {
    expect(byId.get(id)).toMatchObject({ state, certainty });
  });

  it.each([['crashed'], ['leased'], ['reused']])('36: whose process is gone is not, whatever it left behind: %s', (id) => {
    expect(byId.get(id)).toMatchObject({ state: 'STALE', certainty: 'CERTAIN' });
    expect(byId.get(id)?.evidence).toContain('The process that executed the run is gone.');
  });

  it('that another process took up is live', () => {
    expect(byId.get('taken')).toMatchObject({ state: 'LIVE', certainty: 'HIGH' });
  });

  it('37: of whose process nothing is known is suspect, and stale in the end', () => {
    expect(byId.get('suspect')).toMatchObject({ state: 'SUSPECT', certainty: 'LOW' });
    expect(byId.get('lost')).toMatchObject({ state: 'STALE', certainty: 'LOW' });
  });

  it('whose journal tells the end is not live, though its file was never cleared', () => {
    expect(byId.get('over')).toMatchObject({ state: 'STALE', certainty: 'CERTAIN' });
    expect(byId.get('over')?.evidence[0]).toContain('it failed');
  });

  it.each([['plain'], ['idle'], ['torn'], ['work']])('is as the store has it where no file of its profile names a run: %s', (id) => {
    expect(byId.get(id)).toMatchObject({ state: 'IDLE', certainty: 'HIGH', evidence: ['Nothing says that a turn is under way.'] });
  });

  it('whose run went on in another segment was ended, and the other is live', () => {
    expect(byId.get('parent')).toMatchObject({ state: 'ENDED' });
    expect(byId.get('child')).toMatchObject({ state: 'LIVE', certainty: 'CERTAIN' });
  });

  it('of another profile has its own files', async () => {
    expect((await verdicts('work')).get('work')).toMatchObject({ state: 'LIVE', certainty: 'CERTAIN' });
  });

  it('changes with its files', async () => {
    owned('plain', process.pid, { journalAge: 1 });
    expect((await verdicts()).get('plain')).toMatchObject({ state: 'LIVE' });
    saveSidecar(sessionsDir, 'plain', sidecarText('plain'));
    expect((await verdicts()).get('plain')).toMatchObject({ state: 'IDLE' });
  });

  it('asks the store no more than before', async () => {
    await verdicts();
    const { statements } = await server.requestLine('Liveness');
    await server.read('query Plain { sessions(first: 100, collapse: NONE, filter: { includeEmpty: true }) { nodes { sessionId } } }');
    expect(Number(statements) - Number((await server.requestLine('Plain')).statements)).toBeLessThanOrEqual(3);
  });
});
