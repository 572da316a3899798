/**
 * How a mutation looks: one input, and a union of its payload with what it can be refused for.
 */
import type { InputRef, ObjectRef } from '@pothos/core';
import type { Context } from '../resolvers/context.ts';
import { type Refusal, type RefusalCode, WriteRefused } from '../src/write-refused.ts';
import { builder, type Types } from './builder.ts';
import { refusalTypeName, refusalTypes } from './user-errors.ts';

/** What can go wrong with every write of a store. */
const ALWAYS: readonly RefusalCode[] = [
  'WRITES_OFF',
  'VALIDATION',
  'NOT_FOUND',
  'STORE_BUSY',
  'STORE_IO_UNSETTLED',
  'STORE_FULL',
  'STORE_READONLY',
  'STORE_REPLACED',
  'WAL_GENERATION_LOST',
  'STORE_CORRUPT',
  'STORE_INVALID',
  'STORE_UNREADABLE',
  'STORE_QUARANTINED',
  'SCHEMA_UNSUPPORTED',
  'INDETERMINATE',
  'IN_PROGRESS',
  'WRITER_LOST',
];

/** What can go wrong besides where rows of messages are written. */
export const OF_MESSAGES: readonly RefusalCode[] = ['FTS_INDEX_DAMAGED', 'FTS_TOKENIZER_MISSING', 'SESSION_ROW_MISSING'];

/** What can go wrong besides where the Web UI's file of a session is changed. */
export const OF_FILES: readonly RefusalCode[] = [
  'CONFLICT',
  'SIDECAR_MISSING',
  'SIDECAR_UNREADABLE',
  'SIDECAR_CORRUPT',
  'SIDECAR_ENCODING',
  'SIDECAR_TOO_LARGE',
  'SIDECAR_OVERLAY',
  'SESSION_READ_ONLY',
  'FILE_NOT_WRITTEN',
  'NO_SPACE',
];

interface MutationOptions<Input, Payload> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly payload: ObjectRef<Types, Payload>;
  /** Codes beside those that every write has. */
  readonly refusals: readonly RefusalCode[];
  readonly resolve: (input: Input, ctx: Context) => Promise<Payload>;
}

/** Adds a mutation to the schema. A refusal that it doesn't name comes out as an error of the operation, with its code. */
export function mutation<Input extends object, Payload extends object>(name: string, options: MutationOptions<Input, Payload>): void {
  const codes = new Set([...ALWAYS, ...options.refusals]);
  const upper = name.charAt(0).toUpperCase() + name.slice(1);
  const types = [...codes].flatMap((code) => refusalTypes.get(code) ?? []);
  // Pothos can't see through a type parameter: here they are objects, of the types that are named where this is called.
  const members = [options.payload, ...types] as unknown as ObjectRef<Types, object>[];
  const result = builder.unionType(`${upper}Result`, {
    description: `What \`${name}\` answers: its payload, or why it was refused.`,
    types: members,
    resolveType: (value) => (isRefusal(value) ? refusalTypeName(value.code) : options.payload.name),
  });
  const shape: InputRef<object> = options.input;
  builder.mutationField(name, (t) =>
    t.field({
      type: result,
      description: options.description,
      complexity: 10,
      args: { input: t.arg({ type: shape, required: true, description: 'What to do.' }) },
      resolve: async (_, { input }, ctx): Promise<object> => {
        try {
          return await options.resolve(input as Input, ctx);
        } catch (error) {
          if (error instanceof WriteRefused && codes.has(error.code)) return asAnswer(error);
          throw error;
        }
      },
    }),
  );
}

/** A refusal as a value: whatever is an Error would be thrown by the executor. */
function asAnswer({ code, message, retryable, settled, details }: Refusal): Refusal {
  return { code, message, retryable, settled, details };
}

function isRefusal(value: object): value is Refusal {
  return 'code' in value && 'retryable' in value && 'settled' in value;
}
