/**
 * Cards of tools from a run journal (`spec/webui-recovery.md` 7, 8, D6, D8). Pure.
 */
import { type Payload, word } from '../../live/journal/payload.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import { keyOrder } from '../../state-db/write/python-json-value.ts';
import { pythonText } from '../../state-db/write/python-literal.ts';
import { type Fields, truthy } from '../sidecar/coercions.ts';
import { normalised } from './matching.ts';
import { DraftRow, type SessionDraft } from './session-draft.ts';

const MOST_ARGUMENTS = 4;
const LONGEST_ARGUMENT = 120;
const ID_KEYS = ['tid', 'id', 'call_id', 'tool_call_id', 'tool_use_id'];

/** A card and what it is completed by. */
export class RebuiltCard {
  readonly row: DraftRow;
  /** The message it hangs on. */
  readonly host: DraftRow;
  readonly id: string | null;

  constructor(fields: Fields, payload: Payload, host: DraftRow) {
    this.row = new DraftRow(fields);
    this.host = host;
    this.id = idOf(payload);
  }

  get name(): unknown {
    return this.row.fields?.name;
  }

  get isOpen(): boolean {
    return this.row.fields?.done === false;
  }
}

export function newCard(seq: number, payload: Payload, streamId: string): Fields {
  const preview = truthy(payload.preview) ? pythonText(payload.preview) : '';
  return {
    name: nameOf(payload) ?? 'tool',
    preview,
    snippet: preview,
    tid: `journal-${seq}`,
    assistant_msg_idx: null,
    args: shortArguments(payload.args),
    done: false,
    _recovered_from_run_journal: true,
    _recovered_stream_id: streamId,
  };
}

/** Completes the card that the end belongs to: by its id, else the newest open one of the name. Without such a card nothing happens. */
export function completeCard(cards: readonly RebuiltCard[], payload: Payload): void {
  const [id, name] = [idOf(payload), nameOf(payload)];
  const open = cards.filter((card) => card.isOpen);
  const ofId = id === null ? undefined : open.findLast((card) => card.id === id);
  // One with another id of its own is another call (D6).
  const card = ofId ?? open.findLast((each) => (name === null || each.name === name) && (id === null || each.id === null));
  if (card === undefined) return;
  const preview = truthy(payload.preview) ? { preview: payload.preview, snippet: payload.preview } : {};
  const duration = payload.duration == null ? {} : { duration: payload.duration };
  card.row.change({ ...preview, done: true, ...duration, is_error: truthy(payload.is_error) });
}

/** Whether the session has the card: of the same tool with the same preview, of this run or of none that is told, behind the turn's prompt. */
export function toolIsThere(draft: SessionDraft, payload: Payload, streamId: string, turn: DraftRow | null): boolean {
  const [name, preview] = [nameOf(payload) ?? 'tool', normalised(payload.preview)];
  const turnAt = turn === null ? -1 : draft.messages.indexOf(turn);
  return draft.toolCalls.some((card) => {
    const { fields } = card;
    if (fields === null || fields.name !== name) return false;
    if (normalised(truthy(fields.preview) ? fields.preview : fields.snippet) !== preview) return false;
    if (truthy(fields._recovered_stream_id) && fields._recovered_stream_id !== streamId) return false;
    const host = draft.hostOf(card);
    return host === null || draft.messages.indexOf(host) > turnAt;
  });
}

function nameOf(payload: Payload): string | null {
  return word(payload, 'name');
}

function idOf(payload: Payload): string | null {
  const key = ID_KEYS.find((each) => truthy(payload[each]));
  return key === undefined ? null : String(payload[key]);
}

/** The first four, as text of the owner's language, cut. */
function shortArguments(args: unknown): Record<string, string> {
  if (!isJsonObject(args)) return {};
  const first = keyOrder(args).slice(0, MOST_ARGUMENTS);
  return Object.fromEntries(first.map((key) => [key, cut(pythonText(args[key]))]));
}

function cut(value: string): string {
  const points = [...value.slice(0, 2 * LONGEST_ARGUMENT + 2)];
  return points.length > LONGEST_ARGUMENT ? `${points.slice(0, LONGEST_ARGUMENT).join('')}...` : value;
}
