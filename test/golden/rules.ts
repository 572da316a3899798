/**
 * Deviations that several golden files share, as changes of the golden answer (see `docs/deviations.md`).
 */
import { inWindow, isJsonObject, type SqlValue } from '../../src/state-db/decode.ts';
import type { Rule } from './compare.ts';

/** Changes the fields of these names wherever they stand in the answer. */
function fieldRule(id: string, names: readonly string[], adjust: (value: unknown) => unknown): Rule {
  const wanted = new Set(names);
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, wanted.has(key) ? adjust(field) : walk(field)]));
  };
  return { id, adjust: walk };
}

const TIMES = [
  'started_at',
  'ended_at',
  'last_activity_at',
  'last_activity_ts',
  'last_active',
  'last_read_at',
  'timestamp',
  'session_started',
];

/** A time outside the window is null. */
export const TIME_WINDOW = fieldRule('time-window', TIMES, (value) =>
  isJsonObject(value) ? null : typeof value === 'string' ? null : inWindow(value as SqlValue),
);

/** A flag is 0 or 1: any number but 0 is set, what is no number is as if it were NULL. */
export const FLAGS = fieldRule('flag-values', ['archived', 'pinned', 'hidden', 'active', 'compacted', 'observed'], (value) =>
  typeof value === 'number' ? Number(value !== 0) : value === null ? null : 0,
);

const COUNTERS = ['message_count', 'tool_call_count', 'input_tokens', 'output_tokens', 'api_call_count', 'rewind_count'];

/** A negative counter is 0. */
export const COUNTS = fieldRule('negative-counts', COUNTERS, (value) => (typeof value === 'number' && value < 0 ? 0 : value));

/** tool_calls is a list of calls, or nothing. */
export const CALLS = fieldRule('tool-calls-list', ['tool_calls'], (value) => (value === null || Array.isArray(value) ? value : []));

export const SESSION_RULES: readonly Rule[] = [TIME_WINDOW, FLAGS, COUNTS];
export const MESSAGE_RULES: readonly Rule[] = [TIME_WINDOW, FLAGS, CALLS];
