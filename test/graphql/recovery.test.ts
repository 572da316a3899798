/** Turns that were cut off, over HTTP: seen, settled once, and told honestly (`spec/webui-recovery.md`; field cases F29, F35 to F37). */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JournalEntry, writeJournal } from '../support/journal-lines.ts';
import { type Fields, sidecarPath, sidecarText, writeTurns } from '../support/sidecars.ts';
import { createSocketClient, subscribe } from '../support/sockets.ts';
import { M, S } from '../support/stores.ts';
import { fileFields, fileText, mutate, startUpstreamHome, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const HOUR = 3600;
const now = () => Math.floor(Date.now() / 1000);
const token = (text: string): JournalEntry => ({ event: 'token', payload: { text } });
const OUTPUT: JournalEntry[] = [
  token('The an'),
  token('swer is 4'),
  { event: 'reasoning', payload: { text: 'two and two' } },
  { event: 'tool', payload: { name: 'ls', tid: 't1' } },
  { event: 'tool_complete', payload: { name: 'ls', tid: 't1' } },
];

const TEN = Array.from({ length: 10 }, (_, at) => ({
  role: at % 2 === 0 ? 'user' : 'assistant',
  content: `m${at}`,
  timestamp: 1_782_000_000 + at,
}));

/** F35: a prompt of an hour ago. */
function pending(more: Fields = {}): Fields {
  return {
    pending_user_message: 'deploy it',
    pending_attachments: [{ name: 'a.txt' }],
    pending_started_at: now() - HOUR,
    pending_user_source: 'webui',
    active_stream_id: 'r1',
    ...more,
  };
}

async function home(fields: Fields, messages: readonly unknown[] = TEN, lines: readonly JournalEntry[] = [], spec: object = {}) {
  const server = await startWebUi({ files: { x: sidecarText('x', fields, messages) }, ...spec });
  if (lines.length > 0) {
    const timed = lines.map((line, at) => ({ createdAt: now() - HOUR + at, ...line }));
    writeJournal({ root: join(server.sessionsDir, '_run_journal'), sessionId: 'x', runId: 'r1' }, timed);
  }
  settleTimes(server);
  return server;
}

/** As if nothing had been written for an hour. */
function settleTimes({ sessionsDir }: WebUiServer): void {
  for (const name of readdirSync(sessionsDir, { recursive: true, encoding: 'utf8' })) {
    if (statSync(join(sessionsDir, name)).isFile()) utimesSync(join(sessionsDir, name), now() - HOUR, now() - HOUR);
  }
}

function allFiles({ sessionsDir }: WebUiServer): Record<string, string> {
  return Object.fromEntries(
    readdirSync(sessionsDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(sessionsDir, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(sessionsDir, name), 'latin1')]),
  );
}

const TURN = `text attachments source streamId wouldRepair blockedBy cause liveState ageSeconds terminalState identityProven
  evidence { code sentence } recoverableOutput { visible truncated messages { role text reasoning } toolCalls { name done } terminalError { text } }`;

async function turnOf(server: WebUiServer, sessionId = 'x'): Promise<Fields | null> {
  const { session } = await server.read<{ session: { pendingTurn: Fields | null } | null }, { sessionId: string }>(
    `query ($sessionId: String!) { session(sessionId: $sessionId) { pendingTurn { ${TURN} } } }`,
    { sessionId },
  );
  return session?.pendingTurn ?? null;
}

const RESULT = `outcome applied dryRun cause terminalState liveState evidence recoveredMessages recovered { role text } toolCallsAdded
  marker { text isError cause } terminalError { text } messageCountBefore messageCountAfter promptAppended mayBeOverwritten source
  session { sessionId pendingTurn { streamId } transcript { messages { text } } }`;
const repair = (server: WebUiServer, more: object = {}) => mutate(server, 'repairStalePending', { sessionId: 'x', ...more }, RESULT);

describe('a pending turn', () => {
  it('F35: is seen, and nothing is written for it', async () => {
    const server = await home(pending());
    const before = allFiles(server);
    expect(await turnOf(server)).toMatchObject({
      text: 'deploy it',
      attachments: [{ name: 'a.txt' }],
      source: 'webui',
      streamId: 'r1',
      wouldRepair: true,
      blockedBy: null,
      cause: 'LOST_WORKER_BOOKKEEPING',
      liveState: 'DEAD',
      recoverableOutput: null,
      evidence: [{ code: 'NOTHING_CHANGED' }],
    });
    expect(allFiles(server)).toEqual(before);
  });

  it('F36: with what its journal has', async () => {
    const server = await home(pending(), TEN, OUTPUT);
    expect(await turnOf(server)).toMatchObject({
      terminalState: 'running',
      recoverableOutput: {
        visible: true,
        truncated: false,
        messages: [{ role: 'assistant', text: 'The answer is 4', reasoning: 'two and two' }],
        toolCalls: [{ name: 'ls', done: true }],
        terminalError: null,
      },
    });
    const { run } = await server.read<{ run: { recoverableOutput: Fields } }, object>(
      '{ run(sessionId: "x", runId: "r1") { recoverableOutput { messages { text } } } }',
    );
    expect(run.recoverableOutput).toEqual({ messages: [{ text: 'The answer is 4' }] });
  });

  it('F37: (b) may be running', async () => {
    const server = await home(pending({ pending_started_at: now() - 5 }));
    expect(await turnOf(server)).toMatchObject({ wouldRepair: false, blockedBy: 'WITHIN_GRACE' });
  });

  it('runs while the process that accepted it does, and is dead when that is gone', async () => {
    const server = await home(pending());
    writeTurns(server.sessionsDir, 'x', process.pid, [{ event: 'submitted', turn_id: 't', stream_id: 'r1', created_at: now() - HOUR }]);
    settleTimes(server);
    // This process began after the turn, so another had its number.
    expect(await turnOf(server)).toMatchObject({ liveState: 'DEAD', cause: 'PROCESS_RESTART', evidence: [{ code: 'PROCESS_GONE' }] });
    const alive = await home(pending({ pending_started_at: now() - 40 }));
    writeTurns(alive.sessionsDir, 'x', 1, [{ event: 'submitted', turn_id: 't', stream_id: 'r1', created_at: now() - 40 }]);
    settleTimes(alive);
    expect(await turnOf(alive)).toMatchObject({ liveState: 'UNKNOWN', blockedBy: 'LIVENESS_UNKNOWN', cause: null });
  });

  it('runs in the segment that a compression made of it, while its journals are those of the one before', async () => {
    // Process 1 is older than that, also on a machine that was just started.
    const started = now() - 40;
    const fields = pending({ parent_session_id: 'root', pending_started_at: started });
    const server = await startWebUi({
      files: { root: sidecarText('root', { pre_compression_snapshot: true }, TEN), x: sidecarText('x', fields, TEN) },
    });
    writeTurns(server.sessionsDir, 'root', 1, [{ event: 'submitted', turn_id: 't', stream_id: 'r1', created_at: started }]);
    settleTimes(server);
    expect(await turnOf(server)).toMatchObject({
      liveState: 'UNKNOWN',
      blockedBy: 'LIVENESS_UNKNOWN',
      evidence: [{ code: 'PROCESS_RUNS' }],
    });
    writeJournal({ root: join(server.sessionsDir, '_run_journal'), sessionId: 'root', runId: 'r1' }, OUTPUT);
    expect(await turnOf(server)).toMatchObject({ liveState: 'LIVE', blockedBy: 'STREAM_LIVE', evidence: [{ code: 'CHANGED_RECENTLY' }] });
  });

  it('is no part of a session that waits for nothing', async () => {
    expect(await turnOf(await home({}))).toBeNull();
  });
});

describe('repairStalePending', () => {
  it('F35: keeps the prompt, once', async () => {
    const server = await home(pending());
    expect(await repair(server)).toMatchObject({ outcome: 'MARKED_RETRY', applied: true, messageCountBefore: 10, messageCountAfter: 12 });
    const file = fileFields(server, 'x');
    expect(file.messages).toHaveLength(12);
    expect(file.messages).toMatchObject([
      ...TEN,
      { role: 'user', content: 'deploy it', attachments: [{ name: 'a.txt' }], _recovered: true },
      { type: 'interrupted', _error: true },
    ]);
    expect((file.context_messages as unknown[]).at(-1)).toMatchObject({ role: 'user', content: 'deploy it' });
    expect(file).toMatchObject({ pending_user_message: null, active_stream_id: null, pending_attachments: [] });
    const after = allFiles(server);
    expect(await repair(server)).toMatchObject({ outcome: 'NOT_PENDING', applied: false });
    expect(allFiles(server)).toEqual(after);
  });

  it('F36: puts the output where it belongs; a dry run tells the same and writes nothing', async () => {
    const server = await home(pending(), TEN, OUTPUT);
    const before = allFiles(server);
    const dry = await repair(server, { dryRun: true });
    expect(allFiles(server)).toEqual(before);
    const done = await repair(server);
    const { session: _, ...told } = done;
    const { session: __, ...planned } = dry;
    expect(told).toEqual({ ...planned, dryRun: false });
    expect(done).toMatchObject({
      outcome: 'RECOVERED_OUTPUT',
      recoveredMessages: 1,
      recovered: [{ role: 'assistant', text: 'The answer is 4' }],
      toolCallsAdded: 1,
      marker: { isError: true, cause: 'LOST_WORKER_BOOKKEEPING' },
      mayBeOverwritten: false,
      session: { pendingTurn: null },
    });
    const { transcript } = done.session as { transcript: { messages: { text: string }[] } };
    expect(transcript.messages.map(({ text }) => text).slice(10, 12)).toEqual(['deploy it', 'The answer is 4']);
    expect(fileFields(server, 'x').tool_calls).toMatchObject([{ name: 'ls', done: true, assistant_msg_idx: 11 }]);
  });

  it('F37: (a) raises no alarm over a turn that was completed', async () => {
    const server = await home(pending(), TEN, [...OUTPUT, { event: 'done', payload: {} }]);
    expect(await repair(server)).toMatchObject({ outcome: 'CLEARED_COMPLETED', marker: null, messageCountAfter: 12 });
  });

  it('F37: (b) leaves a turn that may be running', async () => {
    const server = await home(pending({ pending_started_at: now() - 5 }));
    const before = fileText(server, 'x');
    expect(await repair(server)).toMatchObject({ outcome: 'WITHIN_GRACE', applied: false });
    expect(fileText(server, 'x')).toBe(before);
  });

  it('F37: (c) adds nothing to a turn whose prompt and answer were saved', async () => {
    const started = now() - HOUR;
    const saved = [
      ...TEN,
      { role: 'user', content: 'deploy it', timestamp: started, attachments: [{ name: 'a.txt' }] },
      { role: 'assistant', content: 'The answer is 4', timestamp: started + 2 },
    ];
    for (const lines of [[], [token('The answer is 4')], [token('The answer is 4'), { event: 'done', payload: {} }]]) {
      const server = await home(pending({ pending_started_at: started }), saved, lines);
      expect(await repair(server)).toMatchObject({ outcome: 'CLEARED_COMPLETED', marker: null });
      expect(fileFields(server, 'x')).toMatchObject({ messages: saved, pending_user_message: null, active_stream_id: null });
    }
  });

  it('gives the first answer to a repeat', async () => {
    const server = await home(pending(), TEN, OUTPUT);
    const first = await repair(server, { clientMutationId: 'once' });
    expect(await repair(server, { clientMutationId: 'once' })).toEqual(first);
  });

  it('is refused for what has no file, and for a file that is damaged', async () => {
    const server = await startWebUi({ rows: [S('stored')], files: { bad: '{torn' } });
    expect(await repair(server, { sessionId: 'stored' })).toMatchObject({ code: 'SIDECAR_MISSING' });
    expect(await repair(server, { sessionId: 'nowhere' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await repair(server, { sessionId: '../x' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await repair(server, { sessionId: 'bad' })).toMatchObject({ code: 'SIDECAR_CORRUPT' });
    const readOnly = await home(pending(), TEN, [], { allowWrites: false });
    expect(await repair(readOnly)).toMatchObject({ code: 'WRITES_OFF' });
    expect(await repair(readOnly, { dryRun: true })).toMatchObject({ outcome: 'MARKED_RETRY', applied: true });
  });

  it('is in the list at once', async () => {
    const server = await home(pending(), TEN, OUTPUT);
    await repair(server);
    const { sessions } = await server.read<{ sessions: { nodes: { messageCount: number; sidecar: { messageCount: number } }[] } }, object>(
      '{ sessions(first: 5) { nodes { sidecar { messageCount } } } }',
    );
    expect(sessions.nodes).toMatchObject([{ sidecar: { messageCount: 13 } }]);
  });
});

describe('repairStalePendingMany', () => {
  it('tells of each session, and settles them when it is told to', async () => {
    const server = await startWebUi({
      files: {
        x: sidecarText('x', pending(), TEN),
        y: sidecarText('y', pending({ pending_started_at: now() - 5 }), TEN),
        z: { title: 'Z' },
      },
    });
    settleTimes(server);
    const fields = 'applied failed { sessionId code } results { sessionId outcome applied }';
    const dry = await mutate(server, 'repairStalePendingMany', {}, fields);
    const results = [
      { sessionId: 'x', outcome: 'MARKED_RETRY', applied: true },
      { sessionId: 'y', outcome: 'WITHIN_GRACE', applied: false },
    ];
    expect(dry).toMatchObject({ applied: 1, failed: [], results });
    expect(fileFields(server, 'x').pending_user_message).toBe('deploy it');
    const named = { sessionIds: ['x', 'gone'], dryRun: false };
    expect(await mutate(server, 'repairStalePendingMany', named, fields)).toMatchObject({
      applied: 1,
      failed: [{ sessionId: 'gone', code: 'SIDECAR_MISSING' }],
      results: [results[0]],
    });
    expect(fileFields(server, 'x').pending_user_message).toBeNull();
  });
});

describe('what comes after', () => {
  it('retryJournalRecovery finds the answer that came late', async () => {
    const server = await home(pending());
    await repair(server);
    const fields = 'outcome applied attemptsBefore attemptsAfter recovered { text } marker { text }';
    const retry = () => mutate(server, 'retryJournalRecovery', { sessionId: 'x' }, fields);
    expect(await retry()).toMatchObject({ outcome: 'WAITING', applied: false, attemptsAfter: 0 });
    mkdirSync(join(server.sessionsDir, '_run_journal', 'x'), { recursive: true });
    writeJournal({ root: join(server.sessionsDir, '_run_journal'), sessionId: 'x', runId: 'r1' }, OUTPUT);
    expect(await retry()).toMatchObject({ outcome: 'RECOVERED', applied: true, recovered: [{ text: 'The answer is 4' }] });
    expect(await retry()).toMatchObject({ outcome: 'NO_RETRY_QUEUED', applied: false });
    expect((fileFields(server, 'x').messages as Fields[]).map(({ content }) => content).slice(10, 12)).toEqual([
      'deploy it',
      'The answer is 4',
    ]);
  });

  it('clearStaleStream frees a session of a run that is over', async () => {
    const server = await home({ active_stream_id: 'r1' });
    const clear = () => mutate(server, 'clearStaleStream', { sessionId: 'x' }, 'outcome applied repaired streamId');
    expect(await clear()).toMatchObject({ outcome: 'CLEARED', applied: true, repaired: false, streamId: 'r1' });
    expect(fileFields(server, 'x')).toMatchObject({ active_stream_id: null, messages: TEN });
    expect(await clear()).toMatchObject({ outcome: 'NOT_PENDING', applied: false });
  });

  it('F29: syncSidecarFromStateDb adds what another program said', async () => {
    const at = now() - HOUR;
    const four = ['u10', 'a11', 'u12', 'a13'].map((content, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content,
      at: at + index,
    }));
    const rows = [
      S('x', { source: 'webui' }),
      ...TEN.map(({ role, content, timestamp }) => M('x', { role, content, timestamp })),
      ...four.map(({ role, content, at: timestamp }) => M('x', { role, content, timestamp })),
    ];
    const server = await home({}, TEN, [], { rows });
    const fields = 'outcome applied addedMessages messageCountBefore messageCountAfter session { transcript { messages { text } } }';
    const sync = (more: object = {}) => mutate(server, 'syncSidecarFromStateDb', { sessionId: 'x', includeIdle: true, ...more }, fields);
    const before = fileText(server, 'x');
    const dry = await sync({ dryRun: true });
    expect(dry).toMatchObject({ outcome: 'SYNCED', addedMessages: 4, messageCountBefore: 10, messageCountAfter: 14 });
    expect((dry.session as { transcript: { messages: unknown[] } }).transcript.messages).toHaveLength(14);
    expect(fileText(server, 'x')).toBe(before);
    expect(await sync()).toMatchObject({ outcome: 'SYNCED', applied: true, addedMessages: 4 });
    expect(fileFields(server, 'x').messages).toHaveLength(14);
    expect(await sync()).toMatchObject({ outcome: 'NOT_AHEAD', applied: false, addedMessages: 0 });
    expect(await sync({ includeIdle: false })).toMatchObject({ outcome: 'NO_UNFINISHED_TURN', applied: false });
  });
});

describe('undoSidecarTurns', () => {
  const FIELDS = 'outcome applied removedMessages prompt { text } messageCountAfter session { transcript { messages { text } } }';
  const undo = (server: WebUiServer, more: object = {}) => mutate(server, 'undoSidecarTurns', { sessionId: 'x', ...more }, FIELDS);

  it('takes the last turns back, keeps the file that was, and hides what the store has of them', async () => {
    const rows = [S('x', { source: 'webui' }), ...TEN.map(({ role, content, timestamp }) => M('x', { role, content, timestamp }))];
    const server = await home({}, TEN, [], { rows });
    const before = fileText(server, 'x');
    expect(await undo(server, { turns: 2, dryRun: true })).toMatchObject({ outcome: 'UNDONE', removedMessages: 4, prompt: { text: 'm6' } });
    expect(fileText(server, 'x')).toBe(before);
    const done = await undo(server, { turns: 2 });
    expect(done).toMatchObject({ outcome: 'UNDONE', applied: true, removedMessages: 4, messageCountAfter: 6, prompt: { text: 'm6' } });
    expect((done.session as { transcript: { messages: unknown[] } }).transcript.messages).toHaveLength(6);
    expect(readFileSync(join(server.sessionsDir, 'x.json.bak'), 'utf8')).toBe(before);
    expect(await undo(server, { turns: 99 })).toMatchObject({ outcome: 'UNDONE', messageCountAfter: 0, prompt: { text: 'm0' } });
    expect(await undo(server)).toMatchObject({ outcome: 'NOTHING_TO_UNDO', applied: false });
    expect(await undo(server, { turns: 0 })).toMatchObject({ code: 'VALIDATION' });
  });

  it('is no way out of a turn', async () => {
    const server = await home(pending());
    expect(await undo(server)).toMatchObject({ outcome: 'TURN_UNDER_WAY', applied: false });
  });
});

interface FollowedTurns {
  readonly liveSessions: { readonly changes: readonly Fields[] };
}

describe('who follows the sessions', () => {
  it('C31: is told of a recovery as soon as it is done', async () => {
    const server = await home(pending());
    const client = createSocketClient(server);
    const feed = subscribe<FollowedTurns>(
      client,
      'subscription { liveSessions(sessionIds: ["x"], maxRateHz: 50) { changes { sessionId kinds session { messageCount pendingTurn { streamId } } } } }',
    );
    const first = await feed.next();
    expect(first.liveSessions.changes).toMatchObject([{ sessionId: 'x', session: { messageCount: 10, pendingTurn: { streamId: 'r1' } } }]);
    expect(await repair(server, { dryRun: false })).toMatchObject({ outcome: 'MARKED_RETRY', applied: true });
    const told = await feed.next();
    expect(told.liveSessions.changes).toMatchObject([{ sessionId: 'x', session: { messageCount: 12, pendingTurn: null } }]);
    feed.stop();
    await client.dispose();
  });
});

describe('the home that the Web UI wrote', () => {
  it('has turns of every kind, and each is told', async () => {
    const server = await startUpstreamHome();
    settleTimes(server);
    const { sessions } = await server.read<{ sessions: { nodes: { sessionId: string; pendingTurn: Fields | null }[] } }, object>(
      '{ sessions(first: 100, filter: { includeUnlisted: true }) { nodes { sessionId pendingTurn { wouldRepair blockedBy cause terminalState } } } }',
    );
    const turns = Object.fromEntries(
      sessions.nodes.filter(({ pendingTurn }) => pendingTurn !== null).map(({ sessionId, pendingTurn }) => [sessionId, pendingTurn]),
    );
    expect(turns).toMatchObject({
      mw_stale_partial: { wouldRepair: true },
      mw_stale_completed: { wouldRepair: true, terminalState: 'completed' },
      mw_stale_apperror: { terminalState: 'errored' },
      mw_stale_cancel: { terminalState: 'interrupted-by-user' },
    });
    const answer = await mutate(
      server,
      'repairStalePendingMany',
      { dryRun: false },
      'applied failed { sessionId } results { sessionId outcome }',
    );
    expect(answer).toMatchObject({ failed: [] });
    const again = await mutate(server, 'repairStalePendingMany', { dryRun: false }, 'applied results { sessionId outcome }');
    expect(again).toMatchObject({ applied: 0 });
    expect(sidecarPath(server.sessionsDir, 'x')).toContain('sessions');
  });
});
