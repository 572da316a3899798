/**
 * Turns that session files wait for and that nobody runs any more (`spec/webui-recovery.md` 5, 11.1, 11.2, 14), as the mutations judge them.
 */
import type { JudgedTurn } from '../../web-ui/recovery/judge-turn.ts';
import type { SidecarRow } from '../../web-ui/sidecar/sidecar-row.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';
import type { DoctorSources } from '../sources.ts';

export const pendingTurns: Check = {
  name: 'pending-turns',
  area: 'FILES',
  run: async (sources) => {
    const judged = await sources.judgedTurns();
    const files = await sources.webUi();
    const left = [...judged].flatMap(([id, turn]) => {
      const row = files?.own.get(id);
      return row === undefined || !isLeftBehind(turn) ? [] : [{ row, turn }];
    });
    const ahead = await aheadOf(
      sources,
      left.map(({ row }) => row),
    );
    return left.map(({ row, turn }) => ofTurn(row, turn, ahead.has(row.id), sources.profile));
  },
};

/** What a person may settle; a session that went on elsewhere is told too. */
function isLeftBehind({ block, live, graceEndsAt }: JudgedTurn): boolean {
  if (block === 'NO_STREAM') return live === 'DEAD' && graceEndsAt === null;
  return block === null || block === 'PRE_COMPRESSION_SNAPSHOT' || block === 'HAS_CONTINUATION';
}

function ofTurn({ id, pending }: SidecarRow, { block }: JudgedTurn, isBehind: boolean, profile: string): Finding {
  const subject = id;
  if (isBehind) return finding('SIDECAR_BEHIND_STORE', profile, { subject });
  if (block === 'PRE_COMPRESSION_SNAPSHOT' || block === 'HAS_CONTINUATION') return finding('PENDING_TURN_CONTINUED', profile, { subject });
  if (pending === null) return finding('STALE_STREAM', profile, { subject });
  return finding('STALE_PENDING_TURN', profile, { subject, values: block === 'NO_STREAM' ? { force: 'yes' } : {} });
}

/** Those of which the store has more rows than the file has messages (14 Y5, Y6). */
async function aheadOf({ store, status }: DoctorSources, rows: readonly SidecarRow[]): Promise<Set<string>> {
  if (rows.length === 0 || (await status()).health !== 'OK') return new Set();
  const counts = await store.messageCounts(rows.map(({ id }) => ({ sessionId: id, view: 'AUDIT', scope: 'SEGMENT' })));
  return new Set(
    rows.filter((row, index) => (counts[index] ?? 0) > (row.storedMessageCount ?? Number.POSITIVE_INFINITY)).map(({ id }) => id),
  );
}
