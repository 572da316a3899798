/** A Claude Code transcript as a row of the unified list (`spec/webui-listing.md` 8.4). */
import { type ListRow, provenanceOf, sidecarRow } from '../web-ui/list/list-row.ts';
import type { ClaudeCodeRow } from './read-transcript.ts';

const ORIGINS = new Set(['CLAUDE_CODE'] as const);
const PROVENANCE = provenanceOf('CLAUDE_CODE');

/** `lastWorkspace` is that of the profile that lists it. It belongs to no profile, and the number of user messages is left open. */
export function claudeListRow(row: ClaudeCodeRow, lastWorkspace: string | null): ListRow {
  return {
    ...sidecarRow({ id: row.id }),
    title: row.title,
    workspace: lastWorkspace,
    model: 'claude-code',
    messageCount: row.messageCount,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastMessageAt: row.lastMessageAt,
    sourceTag: 'claude_code',
    rawSource: 'claude_code',
    sessionSource: 'external_agent',
    sourceLabel: 'Claude Code',
    isCliSession: true,
    readOnly: true,
    origins: ORIGINS,
    provenance: PROVENANCE,
  };
}
