/**
 * Message rows for tests: written out as a table row of `spec/state-db.md` 17, or drawn at random, damage included.
 */
import fc from 'fast-check';
import { STRUCTURED_PREFIX } from '../../src/state-db/content.ts';
import type { SqlRow } from '../../src/state-db/decode.ts';
import { decodeMessage, type MessageRecord } from '../../src/state-db/message-row.ts';
import { DELIM, END, PRIOR, SKILL, SUM, SUM0 } from '../../src/state-db/summary-markers.ts';

/** A live row of session `s`, its time equal to its id, as in the shorthand M(id, ...) of the specification. */
export function record(id: number, columns: SqlRow = {}): MessageRecord {
  return decodeMessage({ id, session_id: 's', role: 'user', content: `message ${id}`, timestamp: id, active: 1, compacted: 0, ...columns });
}

/** Content as a writer stores it: text as it is, everything else behind the sentinel. */
export function structured(value: unknown): string {
  return STRUCTURED_PREFIX + JSON.stringify(value);
}

/** The tool_calls column of an assistant row that calls these ids. */
export function calls(...ids: string[]): string {
  return JSON.stringify(ids.map((id) => ({ id, type: 'function', function: { name: 'terminal', arguments: '{}' } })));
}

const marker = fc.constantFrom(
  SUM,
  SUM0,
  END,
  PRIOR,
  DELIM,
  SKILL,
  '\n',
  ' ',
  'a',
  'ask',
  '<memory-context>',
  '</memory-context>',
  '[memory]',
  '\u0000',
);

/** Text in which markers stand where they should and where they should not. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.array(marker, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.constant('Review the conversation above and update the skill library now'),
);

const part = fc.oneof(
  anyText.map((text) => ({ type: 'text', text })),
  anyText,
  fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }),
  fc.jsonValue(),
);

/** What a content column can hold. */
export const anyContent: fc.Arbitrary<SqlRow[string]> = fc.oneof(
  anyText,
  fc.constant(null),
  fc.array(part, { maxLength: 4 }).map(structured),
  fc.jsonValue().map(structured),
  fc.string().map((text) => STRUCTURED_PREFIX + text),
  fc.uint8Array({ maxLength: 8 }),
  fc.double(),
);

const toolId = fc.constantFrom('c1', 'c2', 'c1|fc1', 'fc1', ' c2 ', '', null);
const toolCalls = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  fc.array(fc.record({ id: toolId, call_id: toolId }), { maxLength: 3 }).map((list) => JSON.stringify(list)),
  fc.constantFrom('5', '{"a":1}', '[null, 1, "x"]', '{', ''),
);
const anyJson = fc.oneof(fc.constantFrom(null, '', '[]', '{', '[{"type":"x"}]', '"text"', '0'), fc.json());

const anyRow: fc.Arbitrary<SqlRow> = fc.record({
  session_id: fc.constantFrom('s', 't'),
  role: fc.constantFrom('user', 'user', 'assistant', 'assistant', 'tool', 'system', 'session_meta', 'narrator'),
  content: anyContent,
  timestamp: fc.oneof(fc.constantFrom<SqlRow[string]>(0, 5, 6, 5e246, 'abc', -1, null), fc.double()),
  tool_call_id: toolId,
  tool_calls: toolCalls,
  finish_reason: fc.constantFrom(null, 'stop', 'incomplete', 'verification_required'),
  reasoning_content: fc.constantFrom(null, '', 'because'),
  reasoning_details: anyJson,
  codex_reasoning_items: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, anyJson),
  _compressed_summary: fc.constantFrom(0, 0, 0, 1, null),
  active: fc.constantFrom(1, 1, 0, null, 'x'),
  compacted: fc.constantFrom(0, 1, null),
  api_content: fc.constantFrom(null, '', 'sent'),
  display_kind: fc.constantFrom(null, null, '', 'hidden', 'steer', 'model_switch'),
  display_metadata: fc.constantFrom(null, '{"model_only":true}', '{"reactions":[]}', '"{\\"a\\":1}"', '[1]', 'x'),
  message_uid: fc.constantFrom(null, '', 'u1', 'u2'),
  absorbed_message_uids: anyJson,
  tool_call_uids: anyJson,
});

/** Up to a dozen rows of two sessions, ids ascending; rows often repeat. */
export const anyRecords: fc.Arbitrary<MessageRecord[]> = fc
  .array(anyRow, { maxLength: 12 })
  .chain((rows) =>
    fc.array(fc.nat({ max: Math.max(0, rows.length - 1) }), { maxLength: 4 }).map((again) => [...rows, ...again.map((i) => rows[i])]),
  )
  .map((rows) => rows.flatMap((row, index) => (row === undefined ? [] : [decodeMessage({ ...row, id: index + 1 })])));
