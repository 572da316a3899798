/**
 * What a mutation can be refused for: one object type a code, all behind one interface (`spec/state-db-writes.md` 19).
 */
import { REFUSALS, type Refusal, type RefusalCode } from '../src/write-refused.ts';
import { builder } from './builder.ts';

const UserError = builder.interfaceRef<Refusal>('UserError').implement({
  description: 'Why a mutation was refused or failed, in the place of its payload.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'For people: what happened, what it means, what to do next.' }),
    code: t.exposeString('code', { description: 'For programs.' }),
    retryable: t.exposeBoolean('retryable', { description: 'The same request, with the same clientMutationId, can succeed later.' }),
    settled: t.exposeBoolean('settled', {
      description: 'True: nothing was written. False: it is not known; repeat with the same clientMutationId, or ask for its receipt.',
    }),
    details: t.field({
      type: 'JSON',
      description: 'More facts for a program, for example retryAfterMs, expiresAt or the id of the session that has the title.',
      resolve: (refused) => refused.details,
    }),
  }),
});

/** `STORE_BUSY` -> `StoreBusyError`. */
export function refusalTypeName(code: RefusalCode): string {
  const words = code.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join('')}Error`;
}

const codes = Object.keys(REFUSALS) as RefusalCode[];

/** The object type of each code. */
export const refusalTypes = new Map(
  codes.map((code) => [
    code,
    builder.objectRef<Refusal>(refusalTypeName(code)).implement({
      description: REFUSALS[code].message,
      interfaces: [UserError],
    }),
  ]),
);
