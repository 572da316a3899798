/** The events, folded from the first picture on, always give what the store shows (`spec/live-turns.md` 21, 80). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConversationRows } from '../../../src/live/rows/conversation-rows.ts';
import type { RowEvent } from '../../../src/live/rows/events.ts';
import { type Columns, S } from '../../support/stores.ts';
import { everyMessage, FoldedTranscript } from './folded.ts';
import { brief, type Following, follow, NOW } from './following.ts';
import { append, compact, insert, lease, replace, restore, rewind, rotate, type Statement } from './operations.ts';

const KINDS = [
  'append',
  'append',
  'append',
  'rewind',
  'restore',
  'restoreAll',
  'replace',
  'replaceLive',
  'rewriteEnd',
  'compact',
  'compact',
  'rotate',
  'clear',
  'deleteSome',
  'react',
  'edit',
  'lease',
  'release',
  'branch',
  'elsewhere',
] as const;
type Kind = (typeof KINDS)[number];
interface Operation {
  readonly kind: Kind;
  readonly size: number;
  readonly where: number;
  /** Whether somebody looks afterwards, and whether lengths are compared then; or comes back from where he stood. */
  readonly look: 'no' | 'quick' | 'thorough' | 'resume';
}

/** What the owner of the oldest stores could do. */
const OLDEST: readonly Kind[] = ['append', 'replace', 'clear', 'deleteSome', 'edit', 'elsewhere'];

function operations(kinds: readonly Kind[]): fc.Arbitrary<Operation[]> {
  const operation = fc.record({
    kind: fc.constantFrom(...kinds),
    size: fc.integer({ min: 1, max: 5 }),
    where: fc.nat({ max: 8 }),
    look: fc.constantFrom('no', 'quick', 'thorough', 'resume'),
  });
  return fc.array(operation, { minLength: 3, maxLength: 14 });
}

/** Resolves operations against what the store holds when it is their turn. */
class Owner {
  readonly #test: Following;
  readonly #retire: boolean;
  readonly #live: string;
  #tip: string;
  #count = 0;

  constructor(test: Following, sessionId: string, schema: number) {
    this.#test = test;
    this.#tip = sessionId;
    this.#retire = schema >= 30;
    this.#live = schema === 6 ? '1' : 'active = 1';
  }

  async perform({ kind, size, where }: Operation): Promise<void> {
    const live = await this.#ids(this.#live);
    const at = live[Math.min(where, live.length - 1)] ?? 0;
    const statements = ((): Statement[] => {
      switch (kind) {
        case 'append':
          return append(this.#tip, ...this.#rows(size));
        case 'rewind':
          return rewind(this.#tip, at);
        case 'restore':
          return restore(this.#tip, at);
        // What the oldest writers did: history comes back to life too.
        case 'restoreAll':
          return [['UPDATE messages SET active = 1 WHERE session_id = ? AND active = 0 AND id >= ?', this.#tip, at]];
        case 'replace':
          return replace(this.#tip, this.#rows(size));
        case 'replaceLive':
          return replace(this.#tip, this.#rows(size), true);
        case 'rewriteEnd':
          return [
            ['UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id >= ?', this.#tip, at],
            ...append(this.#tip, ...this.#rows(size)),
          ];
        case 'compact':
          return live.length === 0 ? [] : compact(this.#tip, [this.#summary()], Math.min(where, live.length - 1), this.#retire);
        case 'rotate': {
          const child = `${this.#tip}+`;
          const parent = this.#tip;
          if (live.length === 0 || child.length > 12) return [];
          this.#tip = child;
          return rotate(parent, child, this.#summary(), Math.min(where, live.length), NOW);
        }
        case 'clear':
          return [['DELETE FROM messages WHERE session_id = ?', this.#tip]];
        case 'deleteSome':
          return [['DELETE FROM messages WHERE session_id = ? AND id = ?', this.#tip, at]];
        case 'react':
          return [['UPDATE messages SET display_metadata = ? WHERE id = ?', `{"reactions":[${'1,'.repeat(this.#count++)}1]}`, at]];
        // Of a message that has copies an edit makes another message.
        case 'edit':
          return [
            [
              'UPDATE messages SET content = ? WHERE id = ? AND (SELECT COUNT(*) FROM messages o WHERE o.timestamp = messages.timestamp) = 1',
              `edited ${this.#count++}`,
              at,
            ],
          ];
        case 'lease':
          return [
            ['DELETE FROM session_turn_leases WHERE conversation_id = ?', this.#root()],
            lease(this.#root(), 'cli', NOW + this.#count++),
          ];
        case 'release':
          return [['DELETE FROM session_turn_leases WHERE conversation_id = ?', this.#root()]];
        case 'branch':
          return [
            insert('sessions', {
              id: `branch${this.#test.now}.${this.#count++}`,
              source: 'cli',
              parent_session_id: this.#tip,
              started_at: NOW,
              model_config: JSON.stringify({ _branched_from: this.#tip }),
            }),
          ];
        case 'elsewhere':
          return append('other', ...this.#rows(size));
      }
    })();
    if (statements.length > 0) await this.#test.commit(...statements);
  }

  #root(): string {
    return this.#tip.replaceAll('+', '');
  }

  /** Rows that differ from all others. */
  #rows(size: number): Columns[] {
    return Array.from({ length: size }, () => {
      this.#count += 1;
      return { role: this.#count % 3 === 0 ? 'user' : 'assistant', content: `${this.#tip} ${this.#count}`, timestamp: NOW + this.#count };
    });
  }

  #summary(): Columns {
    this.#count += 1;
    return { content: `[CONTEXT SUMMARY]: ${this.#count}`, timestamp: NOW + this.#count };
  }

  async #ids(condition: string): Promise<number[]> {
    const rows = await this.#test.writer.exec(`SELECT id FROM messages WHERE session_id = ? AND ${condition} ORDER BY id`, [this.#tip]);
    return (rows as { id: number }[]).map(({ id }) => id);
  }
}

/** Every place in which an event brings a new row. */
function broughtIn(events: readonly RowEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.kind) {
      case 'MessagesAppended':
        return event.ids;
      case 'TranscriptReplaced':
        return event.newIds;
      case 'TranscriptCompacted':
        return [...event.summaryIds, ...event.carried.map(({ newId }) => newId)];
      case 'SessionContinued':
        return [...event.handoffIds, ...event.carried.map(({ newId }) => newId)];
      default:
        return [];
    }
  });
}

/** Somebody who shows the conversation and has nothing but its events. */
class Reader {
  readonly #test: Following;
  #folded: FoldedTranscript;
  /** Since he began, or began anew. */
  told: RowEvent[] = [];

  private constructor(test: Following, folded: FoldedTranscript) {
    this.#test = test;
    this.#folded = folded;
  }

  static async begin(test: Following, sessionId: string): Promise<Reader> {
    test.rows = await ConversationRows.start(test.store, sessionId, { now: () => test.now, clock: () => test.now * 1000 });
    return new Reader(test, await FoldedTranscript.of(test.store, sessionId));
  }

  async look(how: Exclude<Operation['look'], 'no'>): Promise<void> {
    const events = how === 'resume' ? await this.#comeBack() : await this.#test.events(how === 'quick' ? 0 : 1);
    this.told.push(...events);
    for (const event of events) this.#folded.apply(event);
    const said = this.told.map(brief).join('\n');
    const ids = async (view: 'LIVE' | 'DISPLAY', scope: 'SEGMENT' | 'CONVERSATION') =>
      (await everyMessage(this.#test.store, this.#folded.tip, view, scope)).map(({ rowId }) => rowId);
    expect(this.#folded.live(), said).toEqual(await ids('LIVE', 'SEGMENT'));
    expect(this.#folded.display(), said).toEqual(await ids('DISPLAY', 'CONVERSATION'));
  }

  async #comeBack(): Promise<readonly RowEvent[]> {
    const resumed = await this.#test.resume(this.#folded.tip);
    if (resumed.kind === 'CONTINUED') return resumed.events;
    this.#folded = await FoldedTranscript.of(this.#test.store, resumed.rows.head?.sessionId ?? '');
    this.told = [];
    return [];
  }
}

describe('the events of a conversation', () => {
  it.each([6, 26, 30, 31] as const)(
    '80: give the lists of the store whatever happened, each row once (schema %s)',
    async (schema) => {
      const test = await follow({ schema, rows: [S('other')] }, 'other');
      let runs = 0;
      const property = fc.asyncProperty(operations(schema === 6 ? OLDEST : KINDS), async (performed) => {
        const sessionId = `s${runs++}`;
        const session = insert('sessions', { id: sessionId, source: 'cli', started_at: NOW });
        await test.commit(session, ...append(sessionId, { content: 'first', timestamp: NOW }));
        const reader = await Reader.begin(test, sessionId);
        const owner = new Owner(test, sessionId, schema);
        for (const each of performed) {
          await owner.perform(each);
          if (each.look !== 'no') await reader.look(each.look);
        }
        await reader.look('thorough');
        const contents = reader.told.filter((event) => event.class === 'CONTENT').map(({ id }) => id);
        expect(new Set(contents).size, contents.join('\n')).toBe(contents.length);
        const rows = broughtIn(reader.told);
        expect(new Set(rows).size, rows.join(' ')).toBe(rows.length);
      });
      await fc.assert(property, { numRuns: Number(process.env.FOLDING_RUNS ?? 25) });
    },
    120_000,
  );
});
