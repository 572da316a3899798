/**
 * The Web UI's three kinds of file together, and the changes that a turn makes to them in the order of their owner
 * (`spec/live-turns.md` 2, `spec/webui-recovery.md` 2). The steps in between are the caller's.
 */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runJournalRoot, turnJournalRoot } from '../live/journal/ids.ts';
import { RunJournalWriter, type RunName } from './run-journal-writer.ts';
import { NOTHING_PENDING, type Sidecar, type SidecarFields, SidecarFiles, type SidecarMessage } from './sidecar-files.ts';
import { TurnJournalWriter } from './turn-journal-writer.ts';

export interface WebUiIdentity {
  readonly pid: number;
  /** Epoch seconds. */
  readonly now: () => number;
  /** Hexadecimal digits. */
  readonly token: (digits: number) => string;
}

/** A message of the user that was accepted. */
export interface Submission extends RunName {
  readonly text: string;
  /** Default `SIDECAR_FIRST`; a regeneration records its intent first (2, steps 1 and 2). */
  readonly order?: 'SIDECAR_FIRST' | 'TURN_JOURNAL_FIRST';
  /** Whether the worker thread reports itself, as it does but in a run that is relayed to the gateway (default true). */
  readonly worker?: boolean;
  /** Default `webui`. */
  readonly source?: string;
}

/** How a turn is written back. */
export interface Settlement extends RunName {
  /** What the turn adds to the transcript. */
  readonly messages: readonly SidecarMessage[];
  /** The child where the conversation goes on, when the turn was rotated (11.2). */
  readonly childId?: string | undefined;
  readonly outcome?: 'COMPLETED' | 'CANCELLED' | TurnError;
}

export interface TurnError {
  readonly type: string;
  readonly message: string;
}

export class WebUiFiles {
  readonly sidecars: SidecarFiles;
  readonly runs: RunJournalWriter;
  readonly turns: TurnJournalWriter;
  private readonly identity: WebUiIdentity;

  /** `directory`: the Web UI's state directory, which has `sessions/` below it. */
  constructor(directory: string, identity: Partial<WebUiIdentity> = {}) {
    const token = (digits: number): string => randomBytes(digits).toString('hex').slice(0, digits);
    this.identity = { pid: process.pid, now: () => Date.now() / 1000, token, ...identity };
    const sessions = join(directory, 'sessions');
    this.sidecars = new SidecarFiles(sessions, this.identity.pid);
    this.runs = new RunJournalWriter(runJournalRoot(sessions));
    this.turns = new TurnJournalWriter(turnJournalRoot(sessions), this.identity.pid, this.identity.token);
  }

  now(): number {
    return this.identity.now();
  }

  /** The sidecar of a session that had none, or of a new one. */
  create(sessionId: string, fields: SidecarFields = {}, messages: readonly SidecarMessage[] = []): Sidecar {
    const now = this.now();
    return this.sidecars.save(sessionId, { created_at: now, updated_at: now, session_source: 'webui', ...fields }, messages);
  }

  /** Steps 1 to 3: each `next()` writes one file. */
  *submit(submission: Submission): Generator<'sidecar' | 'submitted' | 'worker'> {
    const { order = 'SIDECAR_FIRST', worker = true } = submission;
    const startedAt = this.now();
    if (order === 'SIDECAR_FIRST') {
      this.takeOver(submission, startedAt);
      yield 'sidecar';
    }
    this.recordIntent(submission, startedAt);
    yield 'submitted';
    if (order === 'TURN_JOURNAL_FIRST') {
      this.takeOver(submission, startedAt);
      yield 'sidecar';
    }
    if (!worker) return;
    this.turns.append(submission, { event: 'worker_started', createdAt: this.now() });
    yield 'worker';
  }

  /** Step 16, or the cancel or error path: each `next()` writes one file. */
  *settle(settlement: Settlement): Generator<'assistant_started' | 'snapshot' | 'sidecar' | 'completed' | 'interrupted'> {
    const { outcome = 'COMPLETED', childId, messages, runId } = settlement;
    const owner = { sessionId: childId ?? settlement.sessionId, runId };
    const before = this.sidecars.load(settlement.sessionId)?.messages ?? [];
    const all = [...before, ...messages, ...(outcome === 'COMPLETED' ? [] : [this.marker(outcome)])];
    const first = messages.find(({ role }) => role === 'assistant');
    const fields = { assistant_message_index: first === undefined ? all.length - 1 : all.indexOf(first) };
    if (outcome === 'COMPLETED') {
      // Late and back-dated: it bears the time of the message (4).
      const createdAt = typeof first?.timestamp === 'number' ? first.timestamp : this.now();
      this.turns.append(owner, { event: 'assistant_started', createdAt, fields });
      yield 'assistant_started';
    }
    if (childId !== undefined) {
      this.archive(settlement.sessionId, childId);
      yield 'snapshot';
    }
    this.sidecars.save(owner.sessionId, { ...NOTHING_PENDING, updated_at: this.now() }, all);
    yield 'sidecar';
    if (outcome === 'COMPLETED') {
      this.turns.append(owner, { event: 'completed', createdAt: this.now(), fields });
      yield 'completed';
    } else {
      const reason = outcome === 'CANCELLED' ? 'cancelled' : outcome.type;
      this.turns.append(owner, { event: 'interrupted', createdAt: this.now(), fields: { reason } });
      yield 'interrupted';
    }
  }

  /** The session with everything that belongs to it. A run that is still going makes its journal anew (3.4). */
  remove(sessionId: string): void {
    this.sidecars.remove(sessionId);
    rmSync(`${this.sidecars.pathOf(sessionId)}.bak`, { force: true });
    this.runs.removeSession(sessionId);
    this.turns.removeSession(sessionId);
  }

  private takeOver({ sessionId, runId, text, source = 'webui' }: Submission, startedAt: number): void {
    const title = this.sidecars.load(sessionId)?.fields.title ?? 'Untitled';
    this.sidecars.save(sessionId, {
      // Provisional, until a model finds a better one.
      title: title === 'Untitled' ? text.slice(0, 60) : title,
      active_stream_id: runId,
      pending_user_message: text,
      pending_attachments: [],
      pending_started_at: startedAt,
      pending_user_source: source,
      updated_at: startedAt,
    });
  }

  private recordIntent(submission: Submission, startedAt: number): void {
    const { workspace = '/home/ada', model = '', model_provider = null } = this.sidecars.load(submission.sessionId)?.fields ?? {};
    const fields = { role: 'user', content: submission.text, attachments: [], workspace, model, model_provider };
    this.turns.append(submission, { event: 'submitted', createdAt: startedAt, fields });
  }

  /** After a rotation the parent stays as a snapshot, and the child takes over what the list shows of it. */
  private archive(parentId: string, childId: string): void {
    const parent = this.sidecars.load(parentId);
    this.sidecars.save(parentId, { ...NOTHING_PENDING, pre_compression_snapshot: true });
    const child = { ...parent?.fields, pre_compression_snapshot: false, parent_session_id: parentId };
    this.create(childId, { ...child, ...NOTHING_PENDING, created_at: this.now(), updated_at: this.now() }, parent?.messages ?? []);
  }

  private marker(outcome: 'CANCELLED' | TurnError): SidecarMessage {
    const timestamp = Math.floor(this.now());
    if (outcome === 'CANCELLED') return { role: 'assistant', content: '*Task cancelled.*', timestamp, _error: true, type: 'cancelled' };
    return { role: 'assistant', content: `**Error:** ${outcome.message}`, timestamp, _error: true, type: outcome.type };
  }
}
