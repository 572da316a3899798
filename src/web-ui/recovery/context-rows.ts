/**
 * What a recovery adds to the list that the next turn sends to the model (`spec/webui-recovery.md` 9, D11).
 */
import { isJsonObject } from '../../state-db/decode.ts';
import { projectToContext } from '../context-projection.ts';
import { type Fields, finiteNumber } from '../sidecar/coercions.ts';
import { isSamePrompt, isUser, normalised } from './matching.ts';
import { DraftRow, type SessionDraft } from './session-draft.ts';

/** Rows that are compared with one that is to be added. */
const WINDOW = 8;

export class ContextRows {
  readonly #draft: SessionDraft;
  readonly #turnAt: number | null;

  /** `turnAt`: epoch seconds; what is added comes before the prompts of later turns. Null: there are none. */
  constructor(draft: SessionDraft, turnAt: number | null) {
    this.#draft = draft;
    this.#turnAt = turnAt;
  }

  /** The prompt, unless it is there to the second. */
  addPrompt({ fields, value }: DraftRow): void {
    this.#seed();
    const isThere = fields !== null && this.#window().some((row) => isSamePrompt(row.fields, fields));
    if (!isThere) this.#append(projectToContext(value));
  }

  /** Any other row, unless one of the last has its role and text. Without a text it has calls of tools, and is always added. */
  add(row: DraftRow): void {
    this.#seed();
    const projected = projectToContext(row.value);
    const text = normalised(projected?.content);
    const isRepeat = ({ fields }: DraftRow) => fields?.role === projected?.role && normalised(fields?.content) === text;
    if (projected !== null && (text === '' || !this.#window().some(isRepeat))) this.#append(projected);
  }

  /** The list begins as what the model would have been sent of the transcript. */
  #seed(): void {
    const { context, messages } = this.#draft;
    if (context.length > 0) return;
    for (const { value } of messages) this.#append(projectToContext(value));
  }

  #window(): readonly DraftRow[] {
    const end = this.#end();
    return this.#draft.context.slice(Math.max(0, end - WINDOW), end);
  }

  #append(projected: Fields | null): void {
    if (isJsonObject(projected)) this.#draft.context.splice(this.#end(), 0, new DraftRow(projected));
  }

  #end(): number {
    const { context } = this.#draft;
    const turnAt = this.#turnAt;
    if (turnAt === null) return context.length;
    const later = context.findIndex(({ fields }) => isUser(fields) && (finiteNumber(fields.timestamp) ?? 0) > turnAt);
    return later === -1 ? context.length : later;
  }
}
