/** The turn journal of one Web UI process (`spec/live-turns.md` 4): a shard for each session, every line on the disk before the next step. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { compactJson } from './owner-json.ts';
import { type RunName, syncDirectory } from './run-journal-writer.ts';

export interface TurnJournalEntry {
  readonly event: 'submitted' | 'worker_started' | 'assistant_started' | 'completed' | 'interrupted';
  /** Epoch seconds. */
  readonly createdAt: number;
  /** What this event tells beside the keys that all have. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

const ENDS: ReadonlySet<string> = new Set(['completed', 'interrupted']);

export class TurnJournalWriter {
  /** The directory `_turn_journal`. */
  readonly root: string;
  private readonly pid: number;
  private readonly token: (digits: number) => string;
  private readonly turnIds = new Map<string, string>();

  /** `pid` names the shards; `token` gives hexadecimal digits. */
  constructor(root: string, pid: number, token: (digits: number) => string) {
    this.root = root;
    this.pid = pid;
    this.token = token;
  }

  /**
   * Writes one line. The turn id is that of the run's earlier lines in this session; where there is none, as in the child after a
   * rotation, it is a new one (4, trap a).
   */
  append(run: RunName, { event, createdAt, fields = {} }: TurnJournalEntry): void {
    mkdirSync(this.root, { recursive: true });
    const path = join(this.root, `${run.sessionId}~${this.pid}.jsonl`);
    const isNew = !existsSync(path);
    const common = { turn_id: this.turnId(run, createdAt), created_at: createdAt, version: 1, session_id: run.sessionId };
    const line = compactJson({ event, stream_id: run.runId, ...fields, ...common, ...(ENDS.has(event) ? { terminal: true } : {}) });
    const file = openSync(path, 'a', 0o600);
    try {
      writeSync(file, `${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncDirectory(this.root);
  }

  /** Removes all shards of a session, whichever process wrote them. */
  removeSession(sessionId: string): void {
    if (!existsSync(this.root)) return;
    for (const name of readdirSync(this.root))
      if (name === `${sessionId}.jsonl` || name.startsWith(`${sessionId}~`)) rmSync(join(this.root, name), { force: true });
    for (const key of [...this.turnIds.keys()]) if (key.startsWith(`${sessionId}/`)) this.turnIds.delete(key);
  }

  /** `YYYYMMDDThhmmssZ-<12 hex>` */
  private turnId({ sessionId, runId }: RunName, createdAt: number): string {
    const key = `${sessionId}/${runId}`;
    const time = new Date(createdAt * 1000).toISOString().replace(/[-:]|\.\d+/g, '');
    const id = this.turnIds.get(key) ?? `${time}-${this.token(12)}`;
    this.turnIds.set(key, id);
    return id;
  }
}
