/** A whole turn from the writing process through watch, tailer and fold, against the same file read at once. */
import { afterEach, expect, it } from 'vitest';
import { foldRecords } from '../../../src/live/journal/fold.ts';
import { joinEvents } from '../../../src/live/journal/join-events.ts';
import type { JournalRecord } from '../../../src/live/journal/line.ts';
import { emptyTurn } from '../../../src/live/journal/live-turn.ts';
import { readRunEvents } from '../../../src/live/journal/run-events.ts';
import { Following, until } from '../../support/journal-following.ts';
import { journalRoot } from '../../support/journal-lines.ts';
import { type JournalWriter, type ScriptedEntry, scriptedTurn, startJournalWriter } from '../../support/journal-writer.ts';
import { kinds, of } from './folded.ts';

const PLACE = { sessionId: 's', runId: 'r' };
let writer: JournalWriter | null = null;
let following: Following | null = null;
afterEach(async () => {
  following?.close();
  await writer?.close();
});

/** Plays the entries, and gives what arrived live as records in their order. */
async function played(entries: readonly ScriptedEntry[], damage?: (writer: JournalWriter) => Promise<unknown>) {
  const place = { ...PLACE, root: journalRoot() };
  following = await new Following(place).watch(place);
  writer = await startJournalWriter(place);
  const half = Math.floor(entries.length / 2);
  await writer.play(entries.slice(0, half));
  await damage?.(writer);
  const lastSeq = await writer.play(entries.slice(half));
  await until(() => following?.tailer.position?.seq === lastSeq);
  const live = following.events.flatMap((event) => (event.kind === 'RECORDS' ? event.deliveries.map(({ record }) => record) : []));
  const page = await readRunEvents(place.root, 's', 'r', { limit: 4096 });
  return { live, atOnce: page?.records ?? [] };
}

it('a played turn arrives as it stands in the file, and folds to the same turn', async () => {
  const { live, atOnce } = await played(scriptedTurn(3));
  expect(live).toEqual(atOnce);
  const { state, events } = foldRecords(emptyTurn(PLACE, 'g'), live);
  expect(state.segments.map(({ text }) => text)).toEqual([
    'I look at the files first.',
    'There is one file. There is one file. There is one file. There is one file. There is one file.',
  ]);
  expect(state).toMatchObject({
    phase: 'FINALIZING',
    title: 'One file',
    end: { outcome: 'COMPLETED' },
    tools: [{ toolCallId: 'call_1', done: true, resultPreview: 'a.txt', isError: null, segment: 0 }],
    reasoning: [{ text: 'Let me think about it.' }],
  });
  expect(kinds(joinEvents(events))).toEqual([
    'ContextStatus',
    'ReasoningDelta',
    'TextDelta',
    'SegmentSealed',
    'ToolStarted',
    'ToolFinished',
    'TextDelta',
    'SegmentSealed',
    'UsageChanged',
    'TurnEnded',
    'TitleChanged',
  ]);
  expect(of(events, 'TurnEnded')).toHaveLength(1);
});

it('damage in the middle costs only what was damaged', async () => {
  const { live, atOnce } = await played(scriptedTurn(1), async (damaging) => {
    await damaging.run({ kind: 'raw', text: 'noise\n\n[1]\n' });
    await damaging.torn({ event: 'token', payload: { text: 'LOST' } }, 70);
    await damaging.append({ event: 'token', payload: { text: 'GLUED ' } });
    await damaging.torn({ event: 'token', payload: { text: 'SLOW ' } }, 70, 60);
    await damaging.run({ kind: 'hole', count: 2 });
  });
  const text = (records: readonly JournalRecord[]) =>
    foldRecords(emptyTurn(PLACE, 'g'), records)
      .state.segments.map((each) => each.text)
      .join('|');
  expect(text(live)).toBe(text(atOnce));
  expect(text(live)).toContain('GLUED SLOW ');
  expect(text(live)).not.toContain('LOST');
  expect(following?.tailer.statistics.malformed).toBe(3);
  expect(following?.tailer.position?.holes).toHaveLength(2);
});
