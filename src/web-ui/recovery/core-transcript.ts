/**
 * The transcript of a session in a file of the agent's older versions, `<home>/sessions/session_<id>.json` (`spec/webui-recovery.md` 1).
 */
import { join } from 'node:path';
import { JournalUnreadable, openJournal } from '../../live/journal/open-journal.ts';
import { isJsonObject } from '../../state-db/decode.ts';
import type { Fields } from '../sidecar/coercions.ts';
import { decodeText } from '../sidecar/parse-sidecar.ts';
import { MAX_WHOLE_BYTES, readSteadily } from '../sidecar/read-sidecar.ts';
import { parseSidecarJson } from '../sidecar/sidecar-json.ts';
import { isSidecarId } from '../sidecar-file.ts';

/** Null when there is none. UNREADABLE: what is there is no transcript, or too large, or the system refuses. */
export async function readCoreTranscript(home: string, sessionId: string): Promise<Fields | null | 'UNREADABLE'> {
  if (!isSidecarId(sessionId)) return null;
  try {
    const path = join(home, 'sessions', `session_${sessionId}.json`);
    const file = await openJournal(path);
    if (file === null) return null;
    try {
      if (file.size > MAX_WHOLE_BYTES) return 'UNREADABLE';
      const value = parseSidecarJson(decodeText((await readSteadily(file)).bytes).text);
      return isJsonObject(value) && (value.messages === undefined || Array.isArray(value.messages)) ? value : 'UNREADABLE';
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    if (error instanceof JournalUnreadable) return 'UNREADABLE';
    throw error;
  }
}
