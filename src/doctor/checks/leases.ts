/** Turn leases and compression locks that nobody will give back (`spec/state-db-writes.md` L; `spec/state-db.md` 12.2). */
import { processLife } from '../../live/liveness/process-life.ts';
import type { Hold } from '../../state-db/liveness.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

export const leases: Check = {
  name: 'leases',
  area: 'LEASES',
  run: async ({ store, profile }) => {
    const [turns, locks] = await Promise.all([store.turnLeases(), store.compressionLocks()]);
    return [
      ...(await ofHolds(turns, profile, { expired: 'LEASE_EXPIRED', dead: 'LEASE_HOLDER_DEAD' })),
      ...(await ofHolds(locks, profile, { expired: 'LOCK_EXPIRED', dead: 'LOCK_HOLDER_DEAD' })),
    ];
  },
};

async function ofHolds(
  holds: readonly Hold[],
  profile: string,
  codes: { readonly expired: CodeName; readonly dead: CodeName },
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { key, live, holderPid, acquiredAt } of holds) {
    if (!live) found.push(finding(codes.expired, profile, { subject: key }));
    // A holder without a process, or on another machine, can't be told to be gone.
    else if (holderPid !== null && (await processLife(holderPid, acquiredAt)) === 'DEAD')
      found.push(finding(codes.dead, profile, { subject: key }));
  }
  return found;
}
