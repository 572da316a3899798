/**
 * What a prompt tells that a finished background process gave (`spec/webui-sidecars.md` 11.2). Only its head is looked at; pure.
 */
import type { Fields } from '../sidecar/coercions.ts';

const HEAD = 8192;
const COMPLETED =
  /^\[IMPORTANT: Background process (?<id>[^\s]+) completed \(exit_code=(?<code>[^)\n]*)\)\.\nCommand: (?<command>[^\n]*)\nOutput:\n/;
const MATCHED =
  /^\[IMPORTANT: Background process (?<id>[^\s]+) matched watch pattern "(?<pattern>[^\n]*)"\.\nCommand: (?<command>[^\n]*)\nMatched output:/;

/** Null for any other text. */
export function wakeupMeta(text: string): Fields | null {
  const head = text.slice(0, HEAD);
  const completed = COMPLETED.exec(head)?.groups;
  if (completed !== undefined) {
    const { id, command, code = '' } = completed;
    return { type: 'completion', task_id: id, command, exit_code: /^-?\d{1,15}$/.test(code) ? Number(code) : code };
  }
  const matched = MATCHED.exec(head)?.groups;
  return matched === undefined ? null : { type: 'watch_match', task_id: matched.id, command: matched.command, pattern: matched.pattern };
}
