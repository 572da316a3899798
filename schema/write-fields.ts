/**
 * Fields that inputs and payloads of mutations share, with one wording.
 */
import type { FieldMap, FieldRef, InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import { sessionOf, type WritePayload } from '../resolvers/writes.ts';
import type { StoredSession } from '../src/session-store.ts';
import type { Types } from './builder.ts';
import { Session } from './session.ts';

type InputFields = InputFieldBuilder<Types, 'InputObject'>;
type PayloadFields<P> = ObjectFieldBuilder<Types, P>;

export const profileField = (t: InputFields) => t.string({ description: 'Default: the profile that this server was started for.' });
export const clientMutationIdField = (t: InputFields) =>
  t.string({ description: 'An id of your own choice: a repeat with it gets the first answer, and the work is not done twice.' });
export const dryRunField = (t: InputFields) =>
  t.boolean({ defaultValue: false, description: 'Only say what would be done. Works without --allow-writes.' });
export const sessionIdField = (t: InputFields) => t.string({ required: true, description: "The store's own id of the session." });
export const leaseTokenField = (t: InputFields) =>
  t.string({ description: 'The token of your turn lease; the write is refused when the lease is no longer yours.' });
export const expectedRevisionField = (t: InputFields) =>
  t.string({
    description: 'The `storeRevision` of the transcript that you saw; refused with TRANSCRIPT_CHANGED when it is another by now.',
  });
export const expectedActiveIdsField = (t: InputFields) =>
  t.stringList({ description: 'The same by row ids: those of all live rows of the session, in order.' });

/** The fields that every payload has. */
export function payloadFields<P extends WritePayload>(t: PayloadFields<P>): FieldMap {
  return {
    clientMutationId: t.string({ nullable: true, description: 'As given.', resolve: (payload) => payload.clientMutationId }),
  };
}

export function sessionField<P extends WritePayload & { readonly sessionId: string }>(
  t: PayloadFields<P>,
): FieldRef<Types, StoredSession | null | undefined> {
  return t.field({ type: Session, nullable: true, description: 'The session after the change; null when it is gone.', resolve: sessionOf });
}
