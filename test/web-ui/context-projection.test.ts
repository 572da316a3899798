/** What of a message reaches the model (`spec/webui-sidecars.md` 11.4). */
import { expect, it } from 'vitest';
import { isReasoningOnly, projectToContext } from '../../src/web-ui/context-projection.ts';
import { assistant, user } from './sidecar-folder.ts';

const thinking = { type: 'thinking', thinking: 'hm' };

it.each([
  [[thinking], true],
  [[thinking, ' '], true],
  [[thinking, { type: 'text', text: ' ' }], true],
  [[thinking, 'y'], false],
  [[thinking, { type: 'image' }], false],
  [[{ type: 'text', text: ' ' }], false],
  [[{ type: 'thinking', thinking: ' ' }], false],
  [[], false],
  ['thinking', false],
])('%j is nothing but reasoning: %j', (content, expected) => {
  expect(isReasoningOnly(content)).toBe(expected);
});

it('keeps what was said, without its reasoning', () => {
  expect(projectToContext(assistant('b', 2, { reasoning: 'r', own: 1 }))).toEqual(assistant('b', 2, { own: 1 }));
  expect(projectToContext(user('a'))).toEqual(user('a'));
});

it('leaves out errors, empty messages and bare reasoning', () => {
  for (const message of [assistant('x', 1, { _error: true }), assistant(' \n'), assistant(null), assistant([thinking]), 'text', null]) {
    expect(projectToContext(message), JSON.stringify(message)).toBeNull();
  }
});

it('keeps calls of tools and their results, whatever they say', () => {
  const calls = [{ id: 'c' }];
  expect(projectToContext(assistant([thinking], 1, { tool_calls: calls }))).toMatchObject({ content: '', tool_calls: calls });
  expect(projectToContext(assistant('', 1, { tool_calls: calls }))).not.toBeNull();
  expect(projectToContext({ role: 'tool', content: '', tool_call_id: 'c' })).not.toBeNull();
});
