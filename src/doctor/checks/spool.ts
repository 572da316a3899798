/** Messages that a store did not take (`spec/state-db-writes.md` S1 to S10; `field-cases` F36, F39). */
import type { SpoolEntry } from '../../transcript/spool-entry.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

const OLD_SECONDS = 3600;

export const spool: Check = {
  name: 'spool',
  area: 'SPOOL',
  run: async ({ files, profile, now }) => {
    const entries = (await files()).spool;
    if (entries === null) return [finding('SPOOL_UNREADABLE', profile)];
    const inState = (state: SpoolEntry['state']) => entries.filter((entry) => entry.state === state);
    const waiting = [...inState('PENDING'), ...inState('CLAIMED').filter(({ claimable }) => claimable)];
    const superseded = inState('SUPERSEDED').length;
    return [
      ...ofWaiting(waiting, profile, now()),
      ...inState('INVALID').map(({ spoolId, digest }) =>
        finding('SPOOL_INVALID', profile, { subject: spoolId, values: { spoolId, expectedDigest: digest } }),
      ),
      ...inState('DEAD').map(({ spoolId }) => finding('SPOOL_DEAD', profile, { subject: spoolId })),
      ...(superseded === 0 ? [] : [finding('SPOOL_SUPERSEDED', profile, { count: superseded })]),
    ];
  },
};

/** One for all: a drain takes them in order. */
function ofWaiting(entries: readonly SpoolEntry[], profile: string, now: number): Finding[] {
  if (entries.length === 0) return [];
  const oldest = Math.min(...entries.map(({ ts }) => ts));
  return [finding(now - oldest > OLD_SECONDS ? 'SPOOL_OLD' : 'SPOOL_WAITING', profile, { count: entries.length })];
}
