/** What a tool's result says of its failure. */
import { expect, it } from 'vitest';
import { saysError } from '../../../src/live/rows/appended.ts';

it.each([
  ['{"output": "", "exit_code": 2}', true],
  ['{"output": "", "exit_code": 0, "error": null}', false],
  ['{"error": "no such file"}', true],
  ['{"error": {"code": 1}}', true],
  ['{"success": false}', true],
  ['{"ok": true}', false],
  ['{"is_error": true, "exit_code": 0}', true],
  ['{"status": "error"}', true],
  ['{"results": []}', null],
  ['{"broken', null],
  ['Error: no such file', true],
  ['Traceback (most recent call last):\n', true],
  ['errors were not found', null],
  ['exit 0', null],
  ['', null],
  [null, null],
])('%j says %s', (result, says) => {
  expect(saysError(result)).toBe(says);
});
