/**
 * What other programs do to a store, drawn at random from a seed: each step is one transaction of statements that a writer can run.
 */
import type { Cell } from '../support/stores.ts';

export type WriteStatement = readonly [sql: string, ...params: Cell[]];

/** A small generator (mulberry32): the same seed gives the same steps. */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to `below`, exclusive. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }
}

const TIMES: readonly [Cell, ...Cell[]] = [10, 50, 100, 150, 200, 5e246, -1, 'later'];

/** Draws writes to sessions s0, s1, ...; ids that don't exist are among the targets. */
export class RandomWrites {
  readonly #draw: Draw;
  #sessions: number;
  #clock = 300;

  constructor(seed: number, sessions: number) {
    this.#draw = new Draw(seed);
    this.#sessions = sessions;
  }

  next(): WriteStatement[] {
    const step = this.#draw.of([
      this.#append,
      this.#append,
      this.#append,
      this.#rewind,
      this.#restore,
      this.#compact,
      this.#deleteMessages,
      this.#create,
      this.#create,
      this.#rotate,
      this.#rotate,
      this.#branch,
      this.#title,
      this.#flag,
      this.#end,
      this.#reopen,
      this.#reparent,
      this.#mark,
      this.#heartbeat,
      this.#remove,
      this.#retime,
      this.#move,
    ]);
    return step.call(this);
  }

  #id(): string {
    return `s${this.#draw.below(this.#sessions + 1)}`;
  }

  #time(): Cell {
    this.#clock += this.#draw.below(3);
    return this.#draw.chance(12) ? this.#draw.of(TIMES) : this.#clock;
  }

  #append(): WriteStatement[] {
    const id = this.#id();
    return Array.from(
      { length: 1 + this.#draw.below(4) },
      (): WriteStatement => [
        'INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES (?, ?, ?, ?, ?, 0)',
        id,
        this.#draw.of(['user', 'assistant', 'tool']),
        `text ${this.#clock}`,
        this.#time(),
        this.#draw.chance(6) ? 0 : 1,
      ],
    );
  }

  #rewind(): WriteStatement[] {
    return [['UPDATE messages SET active = 0 WHERE session_id = ? AND id % 3 = ?', this.#id(), this.#draw.below(3)]];
  }

  #restore(): WriteStatement[] {
    return [['UPDATE messages SET active = 1 WHERE session_id = ? AND compacted = 0', this.#id()]];
  }

  #compact(): WriteStatement[] {
    const id = this.#id();
    return [
      ['UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ?', id],
      ["INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', '[CONTEXT SUMMARY]: so far', ?)", id, this.#time()],
    ];
  }

  #deleteMessages(): WriteStatement[] {
    return [['DELETE FROM messages WHERE session_id = ? AND id % 2 = ?', this.#id(), this.#draw.below(2)]];
  }

  #create(columns: Readonly<Record<string, Cell>> = {}): WriteStatement[] {
    const row = {
      id: `s${++this.#sessions}`,
      source: this.#draw.of(['cli', 'telegram', 'tool', 'cron']),
      started_at: this.#time(),
      ...columns,
    };
    const names = Object.keys(row);
    return [[`INSERT INTO sessions (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, ...Object.values(row)]];
  }

  #rotate(): WriteStatement[] {
    const parent = this.#id();
    return [
      ["UPDATE sessions SET end_reason = 'compression', ended_at = ? WHERE id = ?", this.#time(), parent],
      ...this.#create({ parent_session_id: parent, source: 'cli' }),
      ...(this.#draw.chance(2) ? this.#append() : []),
    ];
  }

  #branch(): WriteStatement[] {
    const parent = this.#id();
    return this.#create({ parent_session_id: parent, model_config: JSON.stringify({ _branched_from: parent }) });
  }

  #title(): WriteStatement[] {
    const title = this.#draw.chance(4) ? null : `Title ${this.#draw.below(1_000_000)}`;
    return [['UPDATE OR IGNORE sessions SET title = ? WHERE id = ?', title, this.#id()]];
  }

  #flag(): WriteStatement[] {
    return [[`UPDATE sessions SET ${this.#draw.of(['archived', 'pinned', 'hidden'])} = ? WHERE id = ?`, this.#draw.below(2), this.#id()]];
  }

  #end(): WriteStatement[] {
    const reason = this.#draw.of(['compression', 'session_reset', 'branched', 'cli_close']);
    return [['UPDATE sessions SET end_reason = ?, ended_at = ? WHERE id = ?', reason, this.#time(), this.#id()]];
  }

  #reopen(): WriteStatement[] {
    return [['UPDATE sessions SET end_reason = NULL, ended_at = NULL WHERE id = ?', this.#id()]];
  }

  #reparent(): WriteStatement[] {
    const parent = this.#draw.chance(4) ? null : this.#id();
    return [['UPDATE sessions SET parent_session_id = ? WHERE id = ?', parent, this.#id()]];
  }

  #mark(): WriteStatement[] {
    const config = this.#draw.of([
      null,
      '{}',
      '{bad',
      '{"_delegate_from":"s1"}',
      '{"_branched_from":"s2"}',
      '{"_reset_from":"s3"}',
      '{"_delegate_from":"s2"}',
    ]);
    return [['UPDATE sessions SET model_config = ? WHERE id = ?', config, this.#id()]];
  }

  #heartbeat(): WriteStatement[] {
    return [['UPDATE sessions SET last_activity_at = ?, last_activity_description = ? WHERE id = ?', this.#time(), 'working', this.#id()]];
  }

  #remove(): WriteStatement[] {
    const id = this.#id();
    const rows: WriteStatement[] = this.#draw.chance(3) ? [] : [['DELETE FROM messages WHERE session_id = ?', id]];
    return [...rows, ['DELETE FROM sessions WHERE id = ?', id]];
  }

  #retime(): WriteStatement[] {
    return [['UPDATE messages SET timestamp = ? WHERE session_id = ? AND id % 2 = 0', this.#time(), this.#id()]];
  }

  /** A tail that moves to another session, as a concurrent tail does at a rotation. */
  #move(): WriteStatement[] {
    return [['UPDATE messages SET session_id = ? WHERE session_id = ? AND id % 4 = 0', this.#id(), this.#id()]];
  }
}
