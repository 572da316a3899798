/**
 * Text and reasoning of a turn (`spec/live-turns.md` 3.6, 3.7): segments that tokens fill and that interim texts, tools and ends seal.
 */
import type { EventFields } from './events.ts';
import type { FoldStep } from './fold-step.ts';
import type { HolePlace, TextSegment } from './live-turn.ts';
import { firstWord, flag, text } from './payload.ts';

export function foldToken(step: FoldStep): void {
  const delta = text(step.payload, 'text') ?? '';
  if (delta === '') return;
  if (step.place === null) appendText(step, delta);
  else insertText(step, step.place, delta);
  step.enter('WRITING');
}

export function foldReasoning(step: FoldStep): void {
  const delta = firstWord(step.payload, ['text', 'reasoning', 'thinking']);
  if (delta === null) return;
  if (step.place === null) appendReasoning(step, delta);
  else insertReasoning(step, step.place, delta);
  step.enter('THINKING');
}

/** A text between calls: already there as tokens, or new and set off by a blank line; either way the segment ends. */
export function foldInterim(step: FoldStep): void {
  const interim = (text(step.payload, 'text') ?? '').trim();
  const isNew = interim !== '' && !isCovered(step, interim);
  if (step.place !== null) {
    if (isNew) insertText(step, step.place, step.place.offset === 0 ? interim : `\n\n${interim}`);
    return;
  }
  const dropReasoningTail = flag(step.payload, 'reasoning_echo') === true ? dropTail(step, interim) : null;
  if (isNew) {
    const before = openSegment(step)?.text ?? '';
    appendText(step, before === '' || /[\n ]$/.test(before) ? interim : `\n\n${interim}`);
  }
  const streamed = flag(step.payload, 'already_streamed') === true;
  seal(step, 'INTERIM', { text: isNew && !streamed ? interim : null, dropReasoningTail });
}

/**
 * A streamed interim text is there as tokens, unless their lines are lost: then the segment has no text and the one before it doesn't
 * have the interim either (`spec/webui-recovery.md` D17).
 */
function isCovered(step: FoldStep, interim: string): boolean {
  if (flag(step.payload, 'already_streamed') !== true) return false;
  if (step.late || openSegment(step) !== null) return true;
  return step.turn.segments.at(-1)?.text.includes(interim) ?? false;
}

/** The text ends here, if there is any; what follows is the next segment. */
export function seal(
  step: FoldStep,
  by: EventFields['SegmentSealed']['by'],
  extra: { readonly text: string | null; readonly dropReasoningTail: string | null } = { text: null, dropReasoningTail: null },
): void {
  if (step.late) return;
  closeReasoning(step);
  const open = openSegment(step);
  step.set({ boundaries: step.turn.boundaries + 1 });
  if (open !== null) step.set({ segments: step.turn.segments.with(-1, { ...open, sealed: true }) });
  if (open === null && extra.dropReasoningTail === null) return;
  const segment = open?.index ?? Math.max(0, step.turn.segments.length - 1);
  step.emit('SegmentSealed', { segment, by, ...extra }, by === 'INTERIM' ? '' : 'seal');
}

/** The last segment that calls and interim texts can refer to: null before the first text. */
export function lastSegment({ turn, place }: FoldStep): number | null {
  if (place === null) return turn.segments.at(-1)?.index ?? null;
  const index = place.offset > 0 ? place.segment : place.segment - 1;
  return index >= 0 ? index : null;
}

export function openSegment({ turn }: FoldStep): TextSegment | null {
  const last = turn.segments.at(-1);
  return last === undefined || last.sealed ? null : last;
}

function appendText(step: FoldStep, delta: string): void {
  closeReasoning(step);
  const open = openSegment(step);
  const { segments } = step.turn;
  if (open === null) {
    const index = segments.length;
    step.set({ segments: [...segments, { index, seq: step.record.seq, text: delta, sealed: false }] });
    step.emit('TextDelta', { segment: index, offset: 0, text: delta }, deltaPart(step));
    return;
  }
  step.set({ segments: segments.with(-1, { ...open, text: open.text + delta }) });
  step.emit('TextDelta', { segment: open.index, offset: open.text.length, text: delta }, deltaPart(step));
}

/** An interim text's record is about the seal. */
function deltaPart({ record }: FoldStep): string {
  return record.event === 'token' ? '' : 'text';
}

function insertText(step: FoldStep, place: HolePlace, delta: string): void {
  const { segments, boundaries, holes } = step.turn;
  const { segment: index, offset } = place;
  const there = segments[index];
  if (there === undefined) {
    const sealed = place.boundary !== boundaries;
    step.set({ segments: [...segments, { index, seq: step.record.seq, text: delta, sealed }] });
  } else {
    step.set({ segments: segments.with(index, { ...there, text: there.text.slice(0, offset) + delta + there.text.slice(offset) }) });
  }
  step.set({
    holes: holes.map((hole) => {
      if (hole.from <= step.record.seq || hole.segment !== index) return hole;
      if (hole.boundary === place.boundary) return { ...hole, offset: hole.offset + delta.length };
      return { ...hole, segment: hole.segment + 1 };
    }),
  });
  step.emit('TextDelta', { segment: index, offset, text: delta }, deltaPart(step));
}

function appendReasoning(step: FoldStep, delta: string): void {
  const { reasoning } = step.turn;
  const last = reasoning.at(-1);
  if (last === undefined || last.closed) {
    const index = reasoning.length;
    step.set({ reasoning: [...reasoning, { index, seq: step.record.seq, text: delta, closed: false }] });
    step.emit('ReasoningDelta', { segment: index, offset: 0, text: delta });
    return;
  }
  step.set({ reasoning: reasoning.with(-1, { ...last, text: last.text + delta }) });
  step.emit('ReasoningDelta', { segment: last.index, offset: last.text.length, text: delta });
}

function insertReasoning(step: FoldStep, place: HolePlace, delta: string): void {
  const { reasoning, holes } = step.turn;
  const there = reasoning[place.reasoning];
  const offset = there === undefined ? 0 : Math.min(place.reasoningOffset, there.text.length);
  if (there === undefined) {
    step.set({ reasoning: [...reasoning, { index: place.reasoning, seq: step.record.seq, text: delta, closed: true }] });
  } else {
    const joined = there.text.slice(0, offset) + delta + there.text.slice(offset);
    step.set({ reasoning: reasoning.with(place.reasoning, { ...there, text: joined }) });
  }
  const moved = (hole: HolePlace) => hole.from > step.record.seq && hole.reasoning === place.reasoning;
  step.set({ holes: holes.map((hole) => (moved(hole) ? { ...hole, reasoningOffset: hole.reasoningOffset + delta.length } : hole)) });
  step.emit('ReasoningDelta', { segment: place.reasoning, offset, text: delta });
}

function closeReasoning(step: FoldStep): void {
  const last = step.turn.reasoning.at(-1);
  if (last !== undefined && !last.closed) step.set({ reasoning: step.turn.reasoning.with(-1, { ...last, closed: true }) });
}

/** Takes a text off the end of the last reasoning; gives exactly what went, null when the reasoning doesn't end with it. */
function dropTail(step: FoldStep, echo: string): string | null {
  const { reasoning } = step.turn;
  const last = reasoning.at(-1);
  if (last === undefined || echo === '' || !last.text.trimEnd().endsWith(echo)) return null;
  const kept = last.text.slice(0, last.text.trimEnd().length - echo.length);
  step.set({ reasoning: reasoning.with(-1, { ...last, text: kept }) });
  return last.text.slice(kept.length);
}
