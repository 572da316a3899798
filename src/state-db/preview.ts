/**
 * What a session's row in a list says when it has no title: the first words that a person wrote (`spec/state-db.md` 7.5), and the shorter
 * form for the list of recent turns (8.1). Lengths count characters as SQLite does: code points.
 */
import { decodeContent, flattenContent, STRUCTURED_PREFIX } from './content.ts';
import { DELIM, END, isSummaryContent, PRIOR, SKILL, SUM, SUM0 } from './summary-markers.ts';
import { collapseSpace, trimSpace } from './whitespace.ts';

const HEAD_LENGTH = 63;
const SHOWN_LENGTH = 60;
const SCAFFOLD_WINDOW = 400;
const RECENT_LENGTH = 80;
const RECENT_CUT = 77;
/** Joins the head and the tail of a long scaffold; nothing behind it is the person's text. */
const JOINT = '\u001e';

const BUNDLE_MARKER = ' skill bundle,';
const BUNDLE_INSTRUCTION = '\nUser instruction: ';
const BUNDLE_END = '\n\n[Loaded as part of the ';
const SINGLE_MARKER = 'The full skill content is loaded below.]';
const SINGLE_INSTRUCTION = 'The user has provided the following instruction alongside the skill invocation: ';
const SINGLE_END = '\n\n[Runtime note:';

/** A user row of the session. Rows come by (timestamp, id), whatever their state. */
export interface PreviewRow {
  readonly rowId: string;
  /** As stored, prefix included. */
  readonly content: string | null;
  readonly displayKind: string | null;
}

export interface Preview {
  readonly text: string;
  /** STRUCTURED: from a list of parts, where upstream shows nothing. NONE: no row is eligible. */
  readonly source: 'TEXT' | 'STRUCTURED' | 'NONE';
  readonly rowId: string | null;
}

/** The preview of the first eligible row; '' when there is none (7.5). */
export function previewOf(rows: Iterable<PreviewRow>): Preview {
  for (const row of rows) {
    const raw = rawPreview(row);
    if (raw !== null) return { text: shapePreview(raw), source: isStructured(row.content) ? 'STRUCTURED' : 'TEXT', rowId: row.rowId };
  }
  return { text: '', source: 'NONE', rowId: null };
}

/** Whether a row can give a preview: it has content, is not hidden, and is more than a bare compaction summary (7.5). */
export function isPreviewEligible(row: PreviewRow): boolean {
  return rawPreview(row) !== null;
}

/** Whether a user row counts as a turn that a person took, for the list of recent turns (8.1). */
export function isRecentTurn(row: { readonly content: string | null; readonly displayKind: string | null }): boolean {
  const kind = row.displayKind;
  return (kind === null || kind === '' || kind === 'steer') && !isSummaryContent(decodeContent(row.content));
}

/** The line that a recent turn shows: whitespace collapsed, at most 80 characters (8.1). */
export function recentTurnPreview(content: string | null): string {
  const text = flattenContent(decodeContent(content));
  const line = collapseSpace(describeSkill(text) ?? text);
  return head(line, RECENT_LENGTH) === line ? line : `${head(line, RECENT_CUT)}...`;
}

function isStructured(content: string | null): boolean {
  return content?.startsWith(STRUCTURED_PREFIX) === true && decodeContent(content) !== content;
}

/** The table of shapes of 7.5; null when the row is not eligible. */
function rawPreview(row: PreviewRow): string | null {
  if (row.content === null || row.displayKind === 'hidden') return null;
  const text = isStructured(row.content) ? flattenContent(decodeContent(row.content)) : untilNul(row.content);
  if (opensWithSummary(text)) {
    const end = text.indexOf(END);
    return end < 0 ? null : notBlank(text.slice(end + END.length));
  }
  const delimiter = text.indexOf(DELIM);
  if (delimiter >= 0 && opensWithSummary(text.slice(delimiter + DELIM.length))) {
    const before = trimSpace(text.slice(0, delimiter));
    return notBlank(before.startsWith(PRIOR) ? before.slice(PRIOR.length) : before);
  }
  return isScaffold(text) ? scaffoldExcerpt(text) : head(text, HEAD_LENGTH);
}

/** SQL's string functions, which choose upstream's previews, stop at a NUL. */
function untilNul(text: string): string {
  const nul = text.indexOf('\u0000');
  return nul < 0 ? text : text.slice(0, nul);
}

function opensWithSummary(text: string): boolean {
  const start = text.replace(/^[\t\n\r ]+/, '');
  return start.startsWith(SUM) || start.startsWith(SUM0);
}

function notBlank(text: string): string | null {
  return /[^\t\n\r ]/.test(text) ? text : null;
}

/** SQL's LIKE: ASCII letters of any case. */
function isScaffold(text: string): boolean {
  return text.length >= SKILL.length && text.slice(0, SKILL.length).toLowerCase() === SKILL.toLowerCase();
}

/** The whole scaffold while it is short, else its head and its tail, where the person's instruction stands. */
function scaffoldExcerpt(text: string): string {
  if (head(text, 2 * SCAFFOLD_WINDOW) === text) return text;
  return head(text, SCAFFOLD_WINDOW) + JOINT + tail(text, SCAFFOLD_WINDOW);
}

/** Line breaks become spaces before the scaffold is read, so that its markers with a line break never match here (7.5). */
function shapePreview(raw: string): string {
  const text = trimSpace(raw.replace(/[\n\r]/g, ' '));
  const line = describeSkill(text) ?? beforeJoint(text);
  const shown = head(line, SHOWN_LENGTH);
  return shown === line ? line : `${shown}...`;
}

/** The slash command as the person typed it; null when the text is no skill scaffold, or nothing in it is recognised (7.5). */
function describeSkill(text: string): string | null {
  if (!text.startsWith(SKILL)) return null;
  const name = trimSpace(/^"([^"]*)"/.exec(text.slice(SKILL.length))?.[1] ?? '');
  const label = name === '' ? null : name.startsWith('/') ? name : `/${name}`;
  const instruction = skillInstruction(text);
  if (instruction === '') return label;
  return label === null ? instruction : `${label} — ${instruction}`;
}

/** The person's part of a scaffold, '' when there is none. A bundle has it before the skills, a single skill after its text. */
function skillInstruction(text: string): string {
  if (text.includes(BUNDLE_MARKER)) return between(text, text.indexOf(BUNDLE_INSTRUCTION), BUNDLE_INSTRUCTION, BUNDLE_END);
  if (text.includes(SINGLE_MARKER)) return between(text, text.lastIndexOf(SINGLE_INSTRUCTION), SINGLE_INSTRUCTION, SINGLE_END);
  return '';
}

function between(text: string, at: number, marker: string, end: string): string {
  if (at < 0) return '';
  const rest = text.slice(at + marker.length);
  const stop = rest.indexOf(end);
  return collapseSpace(beforeJoint(stop < 0 ? rest : rest.slice(0, stop)));
}

function beforeJoint(text: string): string {
  const joint = text.indexOf(JOINT);
  return joint < 0 ? text : text.slice(0, joint);
}

/** The first `length` code points. */
function head(text: string, length: number): string {
  let index = 0;
  for (let count = 0; count < length && index < text.length; count += 1) index += isPairAt(text, index) ? 2 : 1;
  return text.slice(0, index);
}

/** The last `length` code points. */
function tail(text: string, length: number): string {
  let index = text.length;
  for (let count = 0; count < length && index > 0; count += 1) index -= index > 1 && isPairAt(text, index - 2) ? 2 : 1;
  return text.slice(index);
}

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
