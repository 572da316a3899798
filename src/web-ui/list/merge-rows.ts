/** Stage F: a Web UI row and the external row of the same session become one (`spec/webui-listing.md` 9.2 step 3, 9.4). */
import { isBlank, type ListOrigin, type ListRow, type SourceFields } from './list-row.ts';
import { UNTITLED } from './list-titles.ts';
import { isCli, isMessaging } from './source-class.ts';

/** The row with what the external one adds: all of a chat, for other sessions only the names of the source that were missing. */
export function mergeExternal(row: ListRow, external: ListRow): ListRow {
  const merged = isMessaging(external) ? overlayChat(row, external) : fillSource(row, external);
  return { ...merged, origins: union(row.origins, external.origins) };
}

function fillSource(row: ListRow, external: ListRow): ListRow {
  const fields = sourceOf(row, external, (own, other) => own ?? other);
  const changed = fields.sourceTag !== row.sourceTag || fields.rawSource !== row.rawSource || fields.sessionSource !== row.sessionSource;
  return changed ? { ...row, ...fields, provenance: { ...row.provenance, source: external.provenance.source } } : { ...row, ...fields };
}

/** 9.4: archived and pinned stay with the Web UI's row. */
function overlayChat(row: ListRow, external: ListRow): ListRow {
  const takesTitle = isBlank(row.title) || row.title === UNTITLED;
  const takesModel = isBlank(row.model) || row.model === 'unknown';
  const takesCount = external.messageCount > row.messageCount;
  const merged: ListRow = {
    ...row,
    ...sourceOf(external, row, (own, other) => own ?? other),
    userId: word(external.userId) ?? row.userId,
    chatId: word(external.chatId) ?? row.chatId,
    chatType: word(external.chatType) ?? row.chatType,
    threadId: word(external.threadId) ?? row.threadId,
    sessionKey: word(external.sessionKey) ?? row.sessionKey,
    platform: word(external.platform) ?? row.platform,
    parentSessionId: word(external.parentSessionId) ?? row.parentSessionId,
    endReason: word(external.endReason) ?? row.endReason,
    actualMessageCount: external.actualMessageCount || row.actualMessageCount,
    lineageRootId: word(external.lineageRootId) ?? row.lineageRootId,
    lineageTipId: word(external.lineageTipId) ?? row.lineageTipId,
    segmentCount: external.segmentCount || row.segmentCount,
    createdAt: external.createdAt ?? row.createdAt,
    updatedAt: external.updatedAt ?? row.updatedAt,
    messageCount: Math.max(row.messageCount, external.messageCount),
    title: takesTitle ? external.title : row.title,
    model: takesModel ? external.model : row.model,
    provenance: {
      ...row.provenance,
      source: external.provenance.source,
      ...(takesTitle ? { title: external.provenance.title } : {}),
      ...(takesCount ? { messageCount: external.provenance.messageCount } : {}),
    },
  };
  return { ...merged, isCliSession: isCli(external) };
}

function sourceOf(first: SourceFields, second: SourceFields, pick: (a: string | null, b: string | null) => string | null): SourceFields {
  return {
    sourceTag: pick(word(first.sourceTag), second.sourceTag),
    rawSource: pick(word(first.rawSource), second.rawSource),
    sessionSource: pick(word(first.sessionSource), second.sessionSource),
    sourceLabel: pick(word(first.sourceLabel), second.sourceLabel),
  };
}

function word(text: string | null): string | null {
  return isBlank(text) ? null : text;
}

export function union(a: ReadonlySet<ListOrigin>, b: ReadonlySet<ListOrigin>): ReadonlySet<ListOrigin> {
  for (const origin of b) if (!a.has(origin)) return new Set([...a, ...b]);
  return a;
}
