/**
 * Keys of messages for clients, who may compare them and shall not read them (`spec/webui-transcript.md` 8.4, 23).
 */
import { createHash } from 'node:crypto';

const LENGTH = 22;

/** The same for the same key, and nothing of what the message says. */
export function opaqueKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, LENGTH);
}
