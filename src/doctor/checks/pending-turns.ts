/**
 * Turns that session files wait for and that nobody runs any more (`spec/webui-recovery.md` 5, 11.1, 11.2, 14).
 */
import type { Liveness } from '../../state-db/liveness.ts';
import type { SidecarRow } from '../../web-ui/sidecar/sidecar-row.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';
import type { DoctorSources } from '../sources.ts';

/** A turn that began so short a time ago is left alone (11.1 G6). */
const GRACE_SECONDS = 30;
/** A run of which there is no sign at all counts as over when its file was not saved for this long. */
const NO_SIGN_SECONDS = 300;

export const pendingTurns: Check = {
  name: 'pending-turns',
  area: 'FILES',
  run: async (sources) => {
    const files = await sources.webUi();
    const waiting = [...(files?.own.values() ?? [])].filter((row) => isOld(row, sources.now()));
    if (files === null || waiting.length === 0) return [];
    const liveness = await sources.liveness(waiting.map(({ id }) => id));
    const left = waiting.filter((row) => isLeftBehind(row, liveness.get(row.id), sources.now()));
    const ahead = await aheadOf(sources, left);
    const children = Map.groupBy(files.facts.sidecars.rows.values(), ({ parentSessionId }) => parentSessionId);
    return left.map((row) => ofTurn(row, children.get(row.id) ?? [], ahead.has(row.id), sources.profile));
  },
};

function isOld({ activeStreamId, pending }: SidecarRow, now: number): boolean {
  if (activeStreamId === null && pending === null) return false;
  return now - (pending?.startedAt ?? 0) >= GRACE_SECONDS;
}

/** By what the store and the journals say of the session. */
function isLeftBehind({ activeStreamId, signature }: SidecarRow, liveness: Liveness | undefined, now: number): boolean {
  if (liveness === undefined) return false;
  if (activeStreamId === null) return liveness.state !== 'LIVE' && liveness.state !== 'STARTING' && liveness.state !== 'SUSPECT';
  if (liveness.state === 'STALE' || liveness.state === 'ENDED') return true;
  return liveness.state === 'UNKNOWN' && now - Number(signature.mtimeNs / 1_000_000n) / 1000 > NO_SIGN_SECONDS;
}

function ofTurn(row: SidecarRow, children: readonly SidecarRow[], isBehind: boolean, profile: string): Finding {
  return finding(codeOf(), profile, { subject: row.id });

  function codeOf(): CodeName {
    if (isBehind) return 'SIDECAR_BEHIND_STORE';
    if (row.pending === null) return 'STALE_STREAM';
    const isContinued = row.isCompressionSnapshot || children.some((child) => continues(child, row));
    return isContinued ? 'PENDING_TURN_CONTINUED' : 'STALE_PENDING_TURN';
  }
}

/** 11.2: neither the answer to an exhausted compression, nor a branch of a session that is none. */
function continues(child: SidecarRow, parent: SidecarRow): boolean {
  if (child.id === parent.id || child.compressionRecovery.sourceSessionId !== null) return false;
  return child.sessionSource !== 'fork' || parent.sessionSource === 'fork';
}

/** Those of which the store has more rows than the file has messages (14 Y5, Y6). */
async function aheadOf({ store, status }: DoctorSources, rows: readonly SidecarRow[]): Promise<Set<string>> {
  if ((await status()).health !== 'OK' || rows.length === 0) return new Set();
  const counts = await store.messageCounts(rows.map(({ id }) => ({ sessionId: id, view: 'AUDIT', scope: 'SEGMENT' })));
  return new Set(
    rows.filter((row, index) => (counts[index] ?? 0) > (row.storedMessageCount ?? Number.POSITIVE_INFINITY)).map(({ id }) => id),
  );
}
