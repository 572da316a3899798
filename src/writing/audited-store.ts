/**
 * What commands on the Web UI's files ask the store beside them; each question has an answer where it can't be read.
 */
import { StoreUnreadable } from '../errors.ts';
import type { StoreReading } from '../state-db/store-reading.ts';
import type { AuditedStore } from '../web-ui/recovery-audit.ts';
import { liveOnly } from '../web-ui/transcript/state-messages.ts';
import type { CommandHost } from './command.ts';

const ALL_IDS = 'SELECT id FROM sessions';

/** What the store says; `otherwise` where it can't be read. */
export async function asked<T>(host: CommandHost, question: (store: StoreReading) => T, otherwise: T): Promise<T> {
  try {
    return await host.writer.read(question);
  } catch (error) {
    if (error instanceof StoreUnreadable) return otherwise;
    throw error;
  }
}

/** Null where the store can't be read. A session whose rows are all inactive has no message: nothing of it could be made a file. */
export async function auditedStore(host: CommandHost): Promise<AuditedStore | null> {
  return asked(
    host,
    (store) => {
      const ids = new Set(store.all(ALL_IDS, []).map(({ id }) => String(id)));
      const ofWebUi = `SELECT id, (SELECT COUNT(*) FROM messages WHERE session_id = sessions.id${liveOnly(store.shape)}) AS messages
        FROM sessions WHERE source = 'webui'`;
      const webUiSessions = new Map(store.all(ofWebUi, []).map(({ id, messages }) => [String(id), Number(messages)]));
      return { webUiSessions, has: (id: string) => ids.has(id) };
    },
    null,
  );
}
