/**
 * What upstream's opening of a session makes of one whose turn was cut off, against our recoveries: its sync, its repair and its retry, which
 * here are asked for.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreConnection } from '../../src/state-db/connection.ts';
import { readIndex } from '../../src/web-ui/index-file/index-file.ts';
import { readCoreTranscript } from '../../src/web-ui/recovery/core-transcript.ts';
import {
  type RecoverySources,
  repairSession,
  retrySession,
  type SessionRecovery,
  syncSession,
} from '../../src/web-ui/recovery/recover-session.ts';
import { childrenOf } from '../../src/web-ui/recovery/repair-guards.ts';
import { readRunJournal } from '../../src/web-ui/recovery/run-lines.ts';
import { listSidecars } from '../../src/web-ui/sidecar/list-sidecars.ts';
import { readMetadata } from '../../src/web-ui/sidecar/read-metadata.ts';
import { readSidecar } from '../../src/web-ui/sidecar/read-sidecar.ts';
import type { SidecarRow } from '../../src/web-ui/sidecar/sidecar-row.ts';
import { sessionSummaries } from '../../src/web-ui/transcript/session-summaries.ts';
import { readStateMessages } from '../../src/web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { type GoldenCase, loadGolden } from '../support/golden.ts';
import { writeJournal } from '../support/journal-lines.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { openWebUiHome, type WebUiHome } from './session-files.ts';

type Fields = Readonly<Record<string, unknown>>;

const SERVER_START = (loadGolden('webui-home', 'get_session') as unknown as { server_start: number }).server_start;

/** One copy of the home, whose streams are all dead. */
class Opened {
  readonly home: WebUiHome;
  readonly store: StoreConnection;
  now: number;

  constructor(now: number) {
    this.home = openWebUiHome('webui-home');
    this.store = StoreConnection.open(join(this.home.stateDir, '..', 'state.db'), { lockWaitMs: 1000 });
    this.now = now;
  }

  get sources(): RecoverySources {
    const { sessionsDir, stateDir } = this.home;
    return {
      sessionsDir,
      now: () => this.now,
      quietSeconds: 0,
      askWebUi: async () => ({ isStreaming: false, startedAt: SERVER_START }),
      turn: async () => ({
        turnId: null,
        pid: null,
        submittedAt: null,
        workerStartedAt: null,
        completedAt: null,
        interrupted: null,
        content: null,
        model: null,
      }),
      run: async (sessionId, runId) => {
        const run = await readRunJournal(join(sessionsDir, '_run_journal'), { sessionId, runId });
        if (run === null) return null;
        return { terminal: run.terminalState !== null, terminalState: run.terminalState ?? 'running', lastCreatedAt: run.lastCreatedAt };
      },
      ancestors: async () => [],
      children: async (id) => childrenOf(id, await this.#rows(), (await readIndex(sessionsDir)).rows),
      storedAt: async () => null,
      core: (id) => readCoreTranscript(join(stateDir, '..'), id),
      summary: async (id) => {
        const found = sessionSummaries(this.store, [id]).get(id);
        return found === undefined || found.messageCount === 0 ? null : { count: found.messageCount, lastAt: found.lastMessageAt };
      },
      rows: async (id) => readStateMessages(this.store, id).messages,
    };
  }

  /** As upstream opens a session. */
  async read(id: string): Promise<void> {
    const options = { dryRun: false, touchesUpdatedAt: true };
    const synced = await syncSession(this.sources, id, options);
    if (!synced.applied) await repairSession(this.sources, id, options);
    await retrySession(this.sources, id, options);
  }

  async session(id: string): Promise<{ readonly file: Fields; readonly messages: readonly unknown[] }> {
    const whole = await readSidecar(this.home.sessionsDir, id);
    return { file: { ...whole?.fields, messages: whole?.messages }, messages: whole?.messages ?? [] };
  }

  async #rows(): Promise<SidecarRow[]> {
    const { sessionsDir } = this.home;
    const rows = await Promise.all((await listSidecars(sessionsDir)).ids.map((id) => readMetadata(sessionsDir, id)));
    return rows.filter((row) => row !== null);
  }
}

const change = (id: string, adjust: (result: Fields) => Fields): Rule => ({ id, adjust: (expected) => adjust(expected as Fields) });

/** Upstream writes the count that it had loaded into the row of the index. */
const countedRow = (count: number) =>
  change('messages-counted', (result) => {
    const { after } = result as { readonly after?: { readonly index_row?: Fields } };
    return after?.index_row === undefined
      ? result
      : { ...result, after: { ...after, index_row: { ...after.index_row, message_count: count } } };
  });

/** Upstream takes repeated partial answers out of the file when it is read. */
const UNCHANGED = change('listing-repairs-nothing', (result) =>
  'after' in result ? { ...result, after: { changed: false, bak: false } } : { ...result, after_changed: false },
);
const RULES_OF: Readonly<Record<string, readonly Rule[]>> = { mw_dup_partials: [UNCHANGED] };

async function onCopy(golden: GoldenCase, work: (opened: Opened, id: string) => Promise<Verdict>, now: number): Promise<Verdict> {
  const opened = new Opened(now);
  try {
    return await work(opened, String(golden.args.sid));
  } finally {
    opened.store.close();
    opened.home.close();
  }
}

function recovering(
  work: (opened: Opened, id: string, golden: GoldenCase) => Promise<{ readonly value: unknown; readonly rules?: readonly Rule[] }>,
): Handler<{ close(): void; now: number }> {
  return ({ now }, golden) =>
    onCopy(
      golden,
      async (opened, id) => {
        try {
          const { value, rules = [] } = await work(opened, id, golden);
          if (golden.error !== undefined) return { difference: `upstream raised ${golden.error.type}` };
          return verdict(value, golden.result, [...rules, ...(RULES_OF[id] ?? [])]);
        } catch (error) {
          if (golden.error === undefined || !(error instanceof WriteRefused)) throw error;
          return { deviations: [] };
        }
      },
      now,
    );
}

async function after(opened: Opened, id: string, before: string): Promise<Fields> {
  const path = join(opened.home.sessionsDir, `${id}.json`);
  const changed = readFileSync(path, 'utf8') !== before;
  const row = (await readIndex(opened.home.sessionsDir)).rows.get(id);
  const bak = existsSync(`${path}.bak`);
  return changed ? { sidecar: (await opened.session(id)).file, changed, bak, index_row: row } : { changed, bak };
}

goldenKind<{ close(): void; now: number }>('get_session', ['webui-home'], async (_store, now) => ({ now, close: () => {} }), {
  get_session: recovering(async (opened, id, golden) => {
    const path = join(opened.home.sessionsDir, `${id}.json`);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (golden.name === 'clock 60 s later') opened.now += 60;
    await opened.read(id);
    if (golden.name === 'the journal arrives between two reads') {
      writeJournal({ root: join(opened.home.sessionsDir, '_run_journal'), sessionId: id, runId: 'stream-rw' }, [
        { event: 'token', payload: { text: 'arrived late' }, createdAt: opened.now + 5 },
      ]);
    }
    if (golden.name !== undefined && golden.name !== 'clock 60 s later') await opened.read(id);
    const { file, messages } = await opened.session(id);
    if (golden.name !== undefined)
      return { value: { messages, ...(golden.name === 'clock 60 s later' ? { pending_user_message: file.pending_user_message } : {}) } };
    const {
      tool_calls = [],
      context_messages = [],
      active_stream_id = null,
      pending_user_message = null,
      pending_started_at = null,
    } = file;
    const turn = { active_stream_id, pending_user_message, pending_started_at };
    const value = { messages, tool_calls, context_messages, ...turn, after: await after(opened, id, before) };
    return { value, rules: [countedRow(messages.length)] };
  }),
  _repair_stale_pending: recovering(async (opened, id) => {
    const result = await repairSession(opened.sources, id, { dryRun: false });
    const { file, messages } = await opened.session(id);
    return {
      value: {
        repaired: result.applied,
        pending_user_message: file.pending_user_message ?? null,
        message_count: messages.length,
        after_changed: result.applied,
      },
    };
  }),
  _sync_sidecar_from_state_db_if_newer: recovering(async (opened, id) => {
    const result: SessionRecovery = await syncSession(opened.sources, id, { dryRun: false });
    return { value: { synced: result.applied, message_count: (await opened.session(id)).messages.length } };
  }),
});
