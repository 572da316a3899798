/** A session whose turn was cut off, as `spec/webui-recovery.md` 26 writes it: fixture B with what a case adds, and its recovery. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessLife } from '../../../src/live/liveness/process-life.ts';
import type { TurnEvidence } from '../../../src/live/liveness/turn-evidence.ts';
import { readIndex } from '../../../src/web-ui/index-file/index-file.ts';
import { readCoreTranscript } from '../../../src/web-ui/recovery/core-transcript.ts';
import type { WebUiAnswer } from '../../../src/web-ui/recovery/live-state.ts';
import {
  clearStaleRun,
  type RecoveryOptions,
  type RecoverySources,
  repairSession,
  retrySession,
  type SessionRecovery,
  syncSession,
} from '../../../src/web-ui/recovery/recover-session.ts';
import { childrenOf } from '../../../src/web-ui/recovery/repair-guards.ts';
import { readRunJournal } from '../../../src/web-ui/recovery/run-lines.ts';
import { listSidecars } from '../../../src/web-ui/sidecar/list-sidecars.ts';
import { readMetadata } from '../../../src/web-ui/sidecar/read-metadata.ts';
import type { SidecarRow } from '../../../src/web-ui/sidecar/sidecar-row.ts';
import { type JournalEntry, writeJournal } from '../../support/journal-lines.ts';
import { assistant, parsed, put, putSession, sessionsFolder, user } from '../sidecar-folder.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Now. */
export const T0 = 1_790_000_000;
export const STARTED = T0 - 3600;
export const RUN = 'st1';
export const SID = 's1';

/** H: an older turn. */
export const OLD = [user('old q', T0 - 3700), assistant('old a', T0 - 3690)];
/** P*: the prompt as a recovery writes it. */
export const PROMPT = { role: 'user', content: 'Hello', timestamp: STARTED, _recovered: true };

/** A row that a recovery takes from the journal. */
export function answer(content: string, timestamp: number, more: Fields = {}): Fields {
  return { role: 'assistant', content, timestamp, _recovered_from_run_journal: true, _recovered_stream_id: RUN, ...more };
}

export interface StateRows {
  readonly rows: readonly Fields[];
  /** Rows that are hidden; they count, and are not shown. */
  readonly hidden?: number;
}

export class TurnHome {
  readonly sessionsDir = sessionsFolder();
  readonly path: string;
  now = T0;
  isLive = false;
  process: ProcessLife | null = null;
  webUi: WebUiAnswer | null = null;
  state: StateRows | null = null;

  constructor(fields: Fields = {}) {
    this.path = putSession(this.sessionsDir, SID, {
      pending_user_message: 'Hello',
      pending_started_at: STARTED,
      pending_user_source: 'webui',
      pending_attachments: [],
      active_stream_id: RUN,
      ...fields,
    });
  }

  /** Lines of the run, a second apart from T0-3500 on. */
  journal(...entries: readonly JournalEntry[]): this {
    this.journalOf(RUN, entries);
    return this;
  }

  journalOf(runId: string, entries: readonly JournalEntry[], extra = ''): void {
    const timed = entries.map((entry, at) => ({ createdAt: T0 - 3500 + at, ...entry }));
    writeJournal({ root: join(this.sessionsDir, '_run_journal'), sessionId: SID, runId }, timed, extra);
  }

  core(content: unknown): this {
    const folder = join(this.sessionsDir, '..', 'sessions_of_agent', 'sessions');
    mkdirSync(folder, { recursive: true });
    put(folder, `session_${SID}.json`, content);
    return this;
  }

  get file(): Record<string, unknown> {
    return parsed(this.path);
  }

  get messages(): readonly Fields[] {
    return this.file.messages as readonly Fields[];
  }

  get context(): readonly Fields[] {
    return this.file.context_messages as readonly Fields[];
  }

  get cards(): readonly Fields[] {
    return this.file.tool_calls as readonly Fields[];
  }

  get bytes(): string {
    return readFileSync(this.path, 'utf8');
  }

  repair(options: Partial<RecoveryOptions> = {}): Promise<SessionRecovery> {
    return repairSession(this.sources(), SID, { dryRun: false, ...options });
  }

  clear(options: Partial<RecoveryOptions> = {}): Promise<SessionRecovery> {
    return clearStaleRun(this.sources(), SID, { dryRun: false, ...options });
  }

  retry(options: Partial<RecoveryOptions> = {}): Promise<SessionRecovery> {
    return retrySession(this.sources(), SID, { dryRun: false, ...options });
  }

  sync(options: Partial<RecoveryOptions> = {}): Promise<SessionRecovery> {
    return syncSession(this.sources(), SID, { dryRun: false, ...options });
  }

  sources(): RecoverySources {
    const { sessionsDir } = this;
    const nothing: TurnEvidence = {
      turnId: null,
      pid: null,
      submittedAt: null,
      workerStartedAt: null,
      completedAt: null,
      interrupted: null,
      content: null,
      model: null,
    };
    const isLive = () => this.isLive;
    return {
      sessionsDir,
      now: () => this.now,
      // Files of a test are always new.
      quietSeconds: 0,
      askWebUi: async () => this.webUi ?? (isLive() ? { isStreaming: true, startedAt: null } : null),
      turn: async () => nothing,
      ancestors: async () => [],
      run: async (sessionId, runId) => {
        const run = await readRunJournal(join(sessionsDir, '_run_journal'), { sessionId, runId });
        if (run === null) return null;
        return { terminal: run.terminalState !== null, terminalState: run.terminalState ?? 'running', lastCreatedAt: run.lastCreatedAt };
      },
      children: async (id) => childrenOf(id, await this.#rows(), (await readIndex(sessionsDir)).rows),
      storedAt: async () => null,
      core: (id) => readCoreTranscript(join(sessionsDir, '..', 'sessions_of_agent'), id),
      summary: async () => {
        const rows = this.state?.rows ?? [];
        const count = rows.length + (this.state?.hidden ?? 0);
        return count === 0 ? null : { count, lastAt: Math.max(...rows.map(({ timestamp }) => Number(timestamp))) };
      },
      rows: async () => this.state?.rows ?? [],
    };
  }

  async #rows(): Promise<SidecarRow[]> {
    const found: SidecarRow[] = [];
    for (const id of (await listSidecars(this.sessionsDir)).ids) {
      const row = await readMetadata(this.sessionsDir, id);
      if (row !== null) found.push(row);
    }
    return found;
  }
}
