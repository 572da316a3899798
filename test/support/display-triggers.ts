/**
 * The triggers of the newest stores on `messages`: display slots (`spec/state-db-writes.md` D9 to D13) and, in schema 31, the uid. Their
 * effects follow the specification; the owner's own text isn't known.
 */
const VISIBLE = (row: string): string => `(${row}.active = 1 OR ${row}.compacted = 1)`;
const visiblePeers = (row: string, identity = `${row}.display_identity`): string =>
  `session_id = ${row}.session_id AND display_identity = ${identity} AND (active = 1 OR compacted = 1)`;

/** A group's slot is the smallest id of its visible rows. */
const rebase = (row: string): string => `
  UPDATE messages SET display_order = (SELECT MIN(id) FROM messages WHERE ${visiblePeers(row)}) WHERE ${visiblePeers(row)};`;

const PAYLOAD = ['role', 'content', 'timestamp', 'tool_call_id', 'tool_calls', 'tool_name', 'display_kind'];

export const DISPLAY_TRIGGERS = `
CREATE TRIGGER messages_display_order_insert AFTER INSERT ON messages WHEN new.display_order IS NULL
BEGIN
  UPDATE messages SET display_order = COALESCE(
    (SELECT MIN(display_order) FROM messages WHERE ${visiblePeers('new')} AND id <> new.id), new.id) WHERE id = new.id;
END;
CREATE TRIGGER messages_display_visibility_update AFTER UPDATE OF active, compacted ON messages
WHEN ${VISIBLE('old')} IS NOT ${VISIBLE('new')} AND new.display_identity IS NOT NULL
BEGIN ${rebase('new')}
END;
CREATE TRIGGER messages_display_identity_update AFTER UPDATE OF ${PAYLOAD.join(', ')} ON messages
WHEN ${PAYLOAD.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')}
BEGIN
  UPDATE messages SET display_identity = NULL, display_order = NULL WHERE id = new.id OR (${visiblePeers('old')});
END;
CREATE TRIGGER messages_display_identity_delete AFTER DELETE ON messages WHEN ${VISIBLE('old')} AND old.display_identity IS NOT NULL
BEGIN ${rebase('old')}
END;`;

export const UID_TRIGGER = `
CREATE TRIGGER messages_message_uid_insert AFTER INSERT ON messages WHEN new.message_uid IS NULL
BEGIN
  UPDATE messages SET message_uid = lower(hex(randomblob(16))) WHERE id = new.id;
END;`;
