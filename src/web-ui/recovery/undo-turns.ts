/**
 * The last turns of a person taken out of a session file, as the Web UI does it (`spec/webui-sidecars.md` 3.4): what is cut off is told, so that rows
 * of the store stay hidden and no audit calls the file shrunken. Pure.
 */
import { type Fields, finiteNumber, truthy } from '../sidecar/coercions.ts';
import { asFloat } from '../sidecar/edit-sidecar.ts';
import { isUser } from './matching.ts';
import { type DraftRow, SessionDraft } from './session-draft.ts';

export interface UndoneTurns {
  readonly draft: SessionDraft;
  readonly set: Fields;
  /** The first prompt that goes. */
  readonly prompt: Fields;
}

/** Null without a message of a person. `fields` stay as they are. */
export function undoTurns(fields: Fields, turns: number, generation: string): UndoneTurns | null {
  const draft = new SessionDraft(fields);
  const prompts = draft.messages.filter((row) => isUser(row.fields));
  const first = prompts.at(-Math.min(turns, prompts.length));
  if (first?.fields == null) return null;
  const prompt = first.fields;
  const set = cutAt(draft, draft.messages.indexOf(first), generation);
  return { draft, set, prompt };
}

/** Keeps so many messages; gives the members that tell of it. With all of them nothing is called a shrinking. */
export function cutAt(draft: SessionDraft, keep: number, generation: string): Fields {
  const isShorter = keep < draft.messages.length;
  draft.cut(keep);
  const times = draft.messages.map(timeOf);
  const watermark = times.findLast((time) => time !== null) ?? 0;
  draft.context = draft.context.filter((row) => draft.messages.length > 0 && (timeOf(row) ?? 0) <= watermark);
  return {
    truncation_watermark: asFloat(watermark),
    truncation_boundary: asFloat(watermark),
    ...(isShorter ? { intentional_shrink_generation: generation } : {}),
  };
}

function timeOf({ fields }: DraftRow): number | null {
  const { _ts: own, timestamp } = fields ?? {};
  return finiteNumber(truthy(own) ? own : timestamp);
}
