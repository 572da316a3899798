/**
 * The demo's conversations are written down like plays, one mark at the start of each line:
 *
 *   ## key | source | model | hours ago | title      a new session (an empty title: none)
 *   @ name value                                     a setting of the session, read by `performed-scripts.ts`
 *   > text        what the user says                 >img text    the same with a picture
 *   >> Name: text overheard in a group               >steer text  said while a turn runs
 *   >note kind text  a timeline note                 ~ text       reasoning
 *   : text        said by the assistant with its next tool calls
 *   ! tool {...}  a tool call, & tool {...} another one in the same row; | text  a line of its result
 *   < text        the assistant's answer
 *
 * A line without a mark continues the one before (so does a table in an answer), and three single quotes stand for a code fence.
 */
export interface ToolUse {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: string;
}

export type ScriptStep =
  | { readonly kind: 'user' | 'image' | 'steer' | 'answer'; readonly text: string }
  | { readonly kind: 'overheard'; readonly name: string; readonly text: string }
  | { readonly kind: 'note'; readonly displayKind: string; readonly text: string }
  | { readonly kind: 'calls'; readonly text: string; readonly calls: readonly ToolUse[] }
  | { readonly kind: 'thought'; readonly text: string };

export interface Script {
  readonly key: string;
  readonly source: string;
  readonly model: string;
  readonly hoursAgo: number;
  readonly title: string | null;
  readonly settings: ReadonlyMap<string, string>;
  readonly steps: readonly ScriptStep[];
}

/** A line of the play with the lines that continue it. */
interface Cue {
  readonly mark: string;
  text: string;
}

const MARK = /^(>img|>steer|>note|>>|[>~:!&|<@]) ?/;

/** The sessions of a play, in order. Throws Error that names the line when the play isn't well formed: a defect of this program. */
export function parseScripts(play: string): Script[] {
  return play
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [head = '', ...lines] = part.trimEnd().split('\n');
      const [key = '', source = '', model = '', hours = '', title = ''] = head.split('|').map((cell) => cell.trim());
      const hoursAgo = Number(hours);
      if (key === '' || source === '' || !Number.isFinite(hoursAgo)) throw new Error(`demo: bad heading "${head}"`);
      const cues = gatherCues(lines);
      const settings = new Map(cues.filter((cue) => cue.mark === '@').map((cue) => splitFirst(cue.text)));
      return { key, source, model, hoursAgo, title: title || null, settings, steps: toSteps(cues.filter((cue) => cue.mark !== '@')) };
    });
}

/** A `|` belongs to the call above it; below anything else, say in a table of an answer, it is part of the text. */
function gatherCues(lines: readonly string[]): Cue[] {
  const cues: Cue[] = [];
  for (const raw of lines) {
    const line = raw.replaceAll("'''", '```');
    const last = cues.at(-1);
    const mark = MARK.exec(line);
    const text = line.slice(mark?.[0].length ?? 0);
    const inResult = last !== undefined && '!&|'.includes(last.mark);
    if (mark?.[1] === '|' && last?.mark === '|') last.text += `\n${text}`;
    else if (mark?.[1] !== undefined && (mark[1] !== '|' || inResult)) cues.push({ mark: mark[1], text });
    else if (last !== undefined) last.text += `\n${line}`;
    else throw new Error(`demo: a line without a mark: "${line}"`);
  }
  for (const cue of cues) cue.text = cue.text.trimEnd();
  return cues;
}

function toSteps(cues: readonly Cue[]): ScriptStep[] {
  const steps: ScriptStep[] = [];
  let interim = '';
  let calls: ToolUse[] = [];
  for (const [index, { mark, text }] of cues.entries()) {
    if (mark === '!') calls = [];
    if (mark === '!' || mark === '&') {
      const [tool, json] = splitFirst(text);
      const next = cues[index + 1];
      calls.push({ tool, args: JSON.parse(json || '{}'), result: next?.mark === '|' ? next.text : 'ok' });
      if (mark === '!') steps.push({ kind: 'calls', text: interim, calls });
      interim = '';
    } else if (mark === ':') interim = text;
    else if (mark !== '|') steps.push(toSpeech(mark, text));
  }
  return steps;
}

function toSpeech(mark: string, text: string): ScriptStep {
  switch (mark) {
    case '>':
      return { kind: 'user', text };
    case '>img':
      return { kind: 'image', text };
    case '>steer':
      return { kind: 'steer', text };
    case '>>': {
      const colon = text.indexOf(':');
      return { kind: 'overheard', name: text.slice(0, colon), text: text.slice(colon + 1).trim() };
    }
    case '>note': {
      const [displayKind, note] = splitFirst(text);
      return { kind: 'note', displayKind, text: note };
    }
    case '~':
      return { kind: 'thought', text };
    case '<':
      return { kind: 'answer', text };
    default:
      throw new Error(`demo: unknown mark "${mark}"`);
  }
}

function splitFirst(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space === -1 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}
