/**
 * Taking a rewind back (`spec/state-db-writes.md` 10.3): exactly the rows that it hid, and nothing that anything else hid.
 */
import { WriteRefused } from '../../write-refused.ts';
import type { StoreReading } from '../store-reading.ts';
import { watermark } from './active-ids.ts';
import { type Admitted, admit } from './admission.ts';
import { completeDisplayIndex } from './display-index.ts';
import { admitRewind, type RewoundRows } from './rewind-to-message.ts';
import { recountSession } from './session-counters.ts';
import type { StoreOperation } from './store-operation.ts';

/** What the receipt of a rewind tells. */
export interface RestoreInput extends Pick<RewoundRows, 'sessionId' | 'retiredIds' | 'newHeadId' | 'replacementId'> {
  readonly leaseToken: string | null;
}

export interface RestoredRewind {
  readonly sessionId: string;
  readonly restoredCount: number;
  readonly restoredIds: readonly string[];
  /** The scaffold, which is hidden again. */
  readonly retiredId: string | null;
}

interface RestorePlan {
  readonly admitted: Admitted;
  readonly result: RestoredRewind;
}

const FROM_IDS = 'FROM json_each(?) i JOIN messages m ON m.id = CAST(i.value AS INTEGER) AND m.session_id = ?';

/**
 * Throws `WriteRefused` with TRANSCRIPT_CHANGED unless the session ends where the rewind left it: later words, another rewind or a compaction
 * would leave a hole or a second end.
 */
export const restoreRewind: StoreOperation<RestoreInput, RestorePlan, RestoredRewind> = {
  patience: 'ROUTINE',
  touchesMessages: true,
  plan: (store, { sessionId, retiredIds, newHeadId, replacementId, leaseToken }, { now }) => {
    const admitted = admitRewind(store, { sessionId, leaseToken }, now);
    if (watermark(store, sessionId) !== newHeadId) throw new WriteRefused('TRANSCRIPT_CHANGED', 'The session went on after the rewind.');
    if (retiredCount(store, sessionId, retiredIds) !== retiredIds.length) {
      throw new WriteRefused('TRANSCRIPT_CHANGED', 'What was undone is not as the rewind left it.');
    }
    return { admitted, result: { sessionId, restoredCount: retiredIds.length, restoredIds: retiredIds, retiredId: replacementId } };
  },
  execute: (transaction, { admitted, result }) => {
    const { sessionId, restoredIds, retiredId } = result;
    admit(transaction, admitted);
    if (retiredId !== null) {
      transaction.run('UPDATE messages SET active = 0 WHERE id = ? AND session_id = ?', [BigInt(retiredId), sessionId]);
    }
    transaction.run(`UPDATE messages SET active = 1 WHERE session_id = ? AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`, [
      sessionId,
      JSON.stringify(restoredIds),
    ]);
    recountSession(transaction, sessionId);
    completeDisplayIndex(transaction, sessionId);
    return result;
  },
  preview: ({ result }) => result,
  wasMade: (store, { sessionId, restoredIds, restoredCount }) => {
    const live = store.get(`SELECT COUNT(*) AS n ${FROM_IDS} WHERE m.active IS NULL OR m.active <> 0`, [
      JSON.stringify(restoredIds),
      sessionId,
    ]);
    return Number(live?.n) === restoredCount;
  },
};

function retiredCount(store: StoreReading, sessionId: string, ids: readonly string[]): number {
  const archived = store.shape.hasColumn('messages', 'compacted') ? 'AND m.compacted = 0' : '';
  const row = store.get(`SELECT COUNT(*) AS n ${FROM_IDS} WHERE m.active = 0 ${archived}`, [JSON.stringify(ids), sessionId]);
  return Number(row?.n);
}
