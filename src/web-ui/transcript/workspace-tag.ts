/**
 * The tag that names the working directory in front of a user's text (`spec/webui-transcript.md` 1.2). The model is sent the tagged text,
 * the sidecar keeps the bare one. Plain loops: patterns for it take quadratic time on untrusted text.
 */
import { trimSpace, trimStartSpace } from '../../state-db/whitespace.ts';

const CURRENT = '[Workspace::v1:';
const LEGACY = '[Workspace:';

/** The text without one tag in front, trimmed: the current form, where `\]` is a bracket of the path, else the legacy form. */
export function stripWorkspace(text: string): string {
  const start = trimStartSpace(text);
  const end = afterTag(start, CURRENT, true) ?? afterTag(start, LEGACY, false);
  return trimSpace(end === null ? text : start.slice(end));
}

/** Where the text goes on behind the tag; null when it doesn't start with a whole one. */
function afterTag(text: string, opening: string, escapes: boolean): number | null {
  if (!text.startsWith(opening)) return null;
  let at = opening.length;
  while (at < text.length && text[at] !== ']') at += escapes && text[at] === '\\' ? 2 : 1;
  return at < text.length && at > opening.length ? at + 1 : null;
}
