/**
 * A followed turn as lines of a terminal. What is finished is printed once and stays; on a terminal what is being written is shown below
 * it and drawn again with each frame. Late text that belongs into something printed already isn't shown.
 */
import { plain } from './connect.ts';
import type { EventOf, LiveEvent } from './live-documents.ts';
import { openTurn, type Part, type Tool, type Turn, type View } from './turn-view.ts';

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const ESCAPE_SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g;
const LINE_END = /\r\n?|[\u0085\u2028\u2029]/g;
/** Controls, halves of pairs, and what turns the direction of writing. */
const HOSTILE = /(?!\n)[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text of a transcript with nothing in it that could move the cursor or change the terminal; its lines stay lines. */
export function printable(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, '').replace(LINE_END, '\n').replaceAll('\t', '    ').replace(HOSTILE, '');
}

const DIM = '2';
const BOLD = '1';
const RED = '31';
const LONGEST_LINE = 200;
const SCREEN = { columns: 80, rows: 24 };

export class TurnPrinter {
  readonly #out: Output;
  /** What was printed of the turns in the view. */
  #printed: Set<string>;
  /** Lines of the part that is drawn again. */
  #drawn = 0;
  /** Rows of a run that cover none of its text. */
  #unmatched: { readonly rowId: string; readonly text: string }[] = [];

  constructor(out: Output, printed: readonly string[] = []) {
    this.#out = out;
    this.#printed = new Set(printed);
  }

  /** Keys of what was printed, for another printer to go on with. */
  get printed(): string[] {
    return [...this.#printed];
  }

  /** After each event, in order. */
  show(view: View, event: LiveEvent): void {
    if (event.depth > 0) return;
    this.#flush(view);
    switch (event.__typename) {
      case 'StreamReset':
        this.#say(`— what was shown may not hold any more (${event.resetReason})`, DIM);
        return;
      case 'LiveSnapshot':
        this.#begin(view, openTurn(view));
        return;
      case 'TurnStarted':
        this.#begin(view, view.turns.find(({ turnId }) => turnId === event.turnId) ?? null);
        return;
      case 'MessagesAppended':
        this.#rows(view, event);
        return;
      case 'MessagesRetracted':
        this.#say(`— ${event.ids.length} messages were taken back`, DIM);
        return;
      case 'TranscriptCompacted':
        this.#say('— older messages were summarised', DIM);
        return;
      case 'SessionContinued':
        this.#say(`— the conversation goes on in ${plain(event.toSessionId)}`, DIM);
        return;
      case 'ApprovalRequested':
        this.#say(`? may it run: ${plain(event.command)}`, BOLD);
        return;
      case 'ClarifyRequested':
        this.#say(`? ${plain(event.question)}`, BOLD);
        return;
      case 'TurnEnded':
        this.#end(view, event);
        return;
      case 'LivenessChanged':
        if (event.turnState !== 'ALIVE') this.#say(`— the turn seems ${event.turnState.toLowerCase()}`, DIM);
        return;
      default:
        return;
    }
  }

  /** After each frame: what is being written. */
  draw(view: View): void {
    if (this.#out.isTTY !== true) return;
    const turn = openTurn(view);
    this.clear();
    if (turn === null) return;
    // A terminal that doesn't know its size says 0.
    const columns = this.#out.columns || SCREEN.columns;
    const room = Math.max(1, Math.min(12, (this.#out.rows || SCREEN.rows) - 3));
    const open = this.#openText(turn);
    const lines = [
      ...(open === '' ? [] : wrapped(open, columns - 1).slice(-room)),
      plain(`… ${turn.phase.toLowerCase()}`).slice(0, columns - 1),
    ];
    for (const line of lines) this.#out.write(`\x1b[${DIM}m${line}\x1b[0m\n`);
    this.#drawn = lines.length;
  }

  #begin(view: View, turn: Turn | null): void {
    if (turn === null) return;
    // What a snapshot shows as covered is in the messages that were there before.
    for (const part of [...turn.text, ...turn.reasoning, ...turn.tools].filter(({ covered }) => covered))
      this.#printed.add(keyOf(turn, part));
    if (turn.userText !== null && this.#isNew(`${turn.turnId} user`)) this.#say(`> ${printable(turn.userText)}`, BOLD);
    this.#flush(view);
  }

  #rows(view: View, { messages, carried, runId, supersedes }: EventOf<'MessagesAppended'>): void {
    if (carried.length > 0) return;
    const turn = openTurn(view);
    const isPlayed = runId !== null && turn?.runId === runId;
    for (const { rowId, role, shownText, toolName, displayKind } of messages ?? []) {
      if (rowId === null || displayKind === 'hidden' || shownText === '') continue;
      const isOverlay = isPlayed && (role === 'TOOL' || supersedes.some(({ part }) => part === 'TEXT'));
      if (isOverlay || (role === 'USER' && turn !== null && this.#printed.has(`${turn.turnId} user`))) continue;
      if (isPlayed && role === 'ASSISTANT') this.#unmatched.push({ rowId, text: shownText });
      else if (role === 'TOOL') this.#say(`  ${plain(toolName)}: ${plain(shownText).slice(0, LONGEST_LINE)}`, DIM);
      else this.#say(`${role === 'USER' ? '> ' : ''}${printable(shownText)}`, role === 'USER' ? BOLD : null);
    }
  }

  #end(view: View, { turnId, outcome, error }: EventOf<'TurnEnded'>): void {
    const turn = view.turns.find((each) => each.turnId === turnId);
    // The text came as rows only.
    if (turn === undefined || turn.text.every(({ covered }) => covered))
      for (const { text } of this.#unmatched) this.#say(printable(text), null);
    this.#unmatched = [];
    const why = error === null ? '' : `: ${plain(error.message ?? error.label)}`;
    this.#say(`— ${outcome.toLowerCase().replaceAll('_', ' ')}${why}`, outcome === 'COMPLETED' ? DIM : RED);
    const open = view.turns.filter(({ ended }) => ended === null).map((each) => each.turnId);
    this.#printed = new Set([...this.#printed].filter((key) => [turnId, ...open].some((id) => key.startsWith(`${id} `))));
  }

  #flush({ turns }: View): void {
    for (const turn of turns) {
      for (const part of turn.reasoning.filter(({ sealed, covered }) => sealed || covered || turn.ended !== null))
        if (this.#isNew(keyOf(turn, part))) this.#say(printable(part.text), DIM);
      for (const part of turn.text.filter(({ sealed, covered }) => sealed || covered || turn.ended !== null))
        if (this.#isNew(keyOf(turn, part))) this.#say(printable(part.text), null);
      for (const tool of turn.tools.filter(({ done }) => done || turn.ended !== null))
        if (this.#isNew(keyOf(turn, tool))) this.#say(toolLine(tool), tool.isError === true ? RED : DIM);
    }
  }

  #openText(turn: Turn): string {
    const open = [...turn.text, ...turn.reasoning].filter((part) => !this.#printed.has(keyOf(turn, part)));
    const tools = turn.tools.filter((tool) => !this.#printed.has(keyOf(turn, tool))).map(toolLine);
    return [...open.map(({ text }) => printable(text)), ...tools].join('\n');
  }

  #isNew(key: string): boolean {
    if (this.#printed.has(key)) return false;
    this.#printed.add(key);
    return true;
  }

  #say(text: string, style: string | null): void {
    this.clear();
    const styled = this.#out.isTTY === true && style !== null;
    this.#out.write(styled ? `\x1b[${style}m${text}\x1b[0m\n` : `${text}\n`);
  }

  /** Takes away what draw has drawn, before somebody else writes to the terminal. */
  clear(): void {
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}F\x1b[J`);
    this.#drawn = 0;
  }
}

function keyOf(turn: Turn, part: Part | Tool): string {
  if ('toolCallId' in part) return `${turn.turnId} tool ${turn.tools.indexOf(part)}`;
  return `${turn.turnId} ${turn.text.includes(part) ? 'text' : 'reasoning'} ${part.index}`;
}

function toolLine({ name, args, done, isError, result }: Tool): string {
  const told = plain(typeof args === 'string' ? args : JSON.stringify(args ?? {}));
  const state = !done ? '…' : isError === true ? '✗' : '✓';
  return `${state} ${plain(name)} ${told}${result === null ? '' : ` → ${plain(result)}`}`.slice(0, LONGEST_LINE);
}

/** Lines that fit; wide characters count twice, and those that may be wide as well. */
function wrapped(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    let width = 0;
    for (const character of line) {
      const wide = (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
      if (width + wide > columns) {
        lines.push(current);
        current = '';
        width = 0;
      }
      current += character;
      width += wide;
    }
    return [...lines, current];
  });
}
