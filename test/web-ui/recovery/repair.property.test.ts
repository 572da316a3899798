/** Whatever was cut off: settling it twice is settling it once, nothing of the file goes, and nothing of the journal that can be read is lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseSpace } from '../../../src/state-db/whitespace.ts';
import { type Recovered, recoverSidecar } from '../../../src/web-ui/recovery/recover-sidecar.ts';
import { readRunJournal } from '../../../src/web-ui/recovery/run-lines.ts';
import { serializeSidecar } from '../../../src/web-ui/sidecar/write-sidecar.ts';
import { type JournalEntry, journalRoot, writeJournal } from '../../support/journal-lines.ts';
import { assistant, session, user } from '../sidecar-folder.ts';
import { type Fields, RUN, SID, STARTED, T0 } from './turn-home.ts';

/** Few words, so that answers repeat older ones. */
const word = fc.constantFrom('yes', 'no', 'the answer is four', 'a longer sentence that is said more than once', 'ü\u2028x');
const turn = fc.tuple(word, word).map(([asked, said]): Fields[] => [user(asked), assistant(said)]);

const entry: fc.Arbitrary<JournalEntry> = fc.oneof(
  { weight: 5, arbitrary: word.map((text) => ({ event: 'token', payload: { text: `${text} ` } })) },
  word.map((text) => ({ event: 'reasoning', payload: { text } })),
  fc.tuple(word, fc.boolean()).map(([text, streamed]) => ({ event: 'interim_assistant', payload: { text, already_streamed: streamed } })),
  fc.tuple(fc.constantFrom('ls', 'cat'), word).map(([name, preview]) => ({ event: 'tool', payload: { name, preview, tid: preview } })),
  fc.constantFrom('ls', 'cat').map((name) => ({ event: 'tool_complete', payload: { name } })),
  fc.constant({ event: 'metering', payload: {} }),
);
const end: fc.Arbitrary<readonly JournalEntry[]> = fc.constantFrom(
  [],
  [{ event: 'done', payload: {} }],
  [{ event: 'cancel', payload: {} }],
  [
    {
      event: 'apperror',
      payload: {
        type: 'x',
        session_id: SID,
        session: { session_id: SID, messages: [user('?'), { ...assistant('failed'), _error: true }] },
      },
    },
  ],
  [{ event: 'stream_end', payload: {} }],
);

const crash = fc.record({
  old: fc.array(turn, { maxLength: 3 }).map((turns) => turns.flat().map((row, at) => ({ ...row, timestamp: STARTED - 100 + at }))),
  prompt: word,
  saved: fc.constantFrom('no', 'prompt', 'prompt and answer'),
  answer: word,
  context: fc.constantFrom('empty', 'same'),
  lines: fc.array(entry, { maxLength: 12 }),
  end,
});
type Crash = typeof crash extends fc.Arbitrary<infer T> ? T : never;

function fileOf({ old, prompt, saved, answer, context }: Crash): Buffer {
  const rows: Fields[] = [...old];
  if (saved !== 'no') rows.push(user(prompt, STARTED));
  if (saved === 'prompt and answer') rows.push(assistant(answer, STARTED + 1));
  const fields = {
    messages: rows,
    context_messages: context === 'same' ? rows : [],
    pending_user_message: prompt,
    pending_started_at: STARTED,
    pending_user_source: 'webui',
    active_stream_id: RUN,
    own: { kept: [1.5] },
  };
  return Buffer.from(serializeSidecar(SID, session(SID, fields)));
}

async function settle(bytes: Buffer, root: string): Promise<Recovered> {
  const journal = await readRunJournal(root, { sessionId: SID, runId: RUN });
  const request = { kind: 'REPAIR', id: SID, streamId: RUN, journal, core: null, cause: 'UNKNOWN', now: T0, touches: false } as const;
  return recoverSidecar(Buffer.from(bytes), request);
}

function textOf(rows: readonly Fields[]): string {
  return collapseSpace(rows.map(({ content, reasoning }) => `${String(reasoning ?? '')} ${String(content)}`).join(' '));
}

describe('a turn that was cut off', () => {
  it('is settled once, with everything that was said', async () => {
    await fc.assert(
      fc.asyncProperty(crash, async (one) => {
        const root = journalRoot();
        writeJournal({ root, sessionId: SID, runId: RUN }, [...one.lines, ...one.end]);
        const before = fileOf(one);
        const { edit, report } = await settle(before, root);
        if (edit.status !== 'CHANGED') throw new Error(`${report.outcome} changed nothing`);
        const after = Buffer.from(edit.bytes);
        const file = JSON.parse(after.toString()) as Fields;
        const messages = file.messages as Fields[];

        const again = await settle(after, root);
        expect([again.report.outcome, again.edit.status]).toEqual(['NOT_PENDING', 'UNCHANGED']);
        expect(file).toMatchObject({
          pending_user_message: null,
          active_stream_id: null,
          own: { kept: [1.5] },
          message_count: messages.length,
        });

        const were = (JSON.parse(before.toString()) as Fields).messages as Fields[];
        expect(messages.slice(0, were.length).map(({ reasoning: _, ...row }) => row)).toEqual(were);
        const asked = messages.filter(({ role, content, timestamp }) => role === 'user' && content === one.prompt && timestamp === STARTED);
        expect(asked).toHaveLength(1);

        // Every text of the run stands behind the turn's prompt, and every tool on a card that hangs on a message there is.
        const turn = textOf(messages.slice(messages.indexOf(asked[0] ?? {}) + 1));
        for (const { event, payload } of one.lines) {
          if (event === 'token' || event === 'reasoning') expect(turn).toContain(collapseSpace(String(payload?.text)));
        }
        const cards = file.tool_calls as Fields[];
        expect(new Set(cards.map(({ name }) => name))).toEqual(
          new Set(one.lines.filter(({ event }) => event === 'tool').map(({ payload }) => payload?.name)),
        );
        for (const { assistant_msg_idx: place } of cards) expect(messages[Number(place)]?.role).toBe('assistant');

        // The model is sent the prompt before what followed it, and no errors.
        const context = file.context_messages as Fields[];
        expect(context.filter((row) => row._error === true)).toEqual([]);
        const said = context.findIndex(({ content, timestamp }) => content === one.prompt && timestamp === STARTED);
        expect(said).not.toBe(-1);
        const recovered = context.findIndex((row) => row._recovered_stream_id === RUN);
        expect(recovered === -1 || recovered > said).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
