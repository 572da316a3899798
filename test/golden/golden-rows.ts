/**
 * Rows of a store as upstream's own answers have them, to work out what a deviation wants without asking this server.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inWindow, isJsonObject, type SqlValue } from '../../src/state-db/decode.ts';
import { SUM, SUM0 } from '../../src/state-db/summary-markers.ts';
import { fixturesDir, loadGolden } from '../support/golden.ts';

export type GoldenRow = Readonly<Record<string, unknown>>;

/** Every message row of each session, by `get_messages(include_inactive=True)`; none where upstream wasn't asked for them. */
export function goldenMessages(store: string): Map<string, readonly GoldenRow[]> {
  const rows = new Map<string, readonly GoldenRow[]>();
  if (!existsSync(join(fixturesDir(), 'golden', store, 'get_messages.json'))) return rows;
  for (const { args, result } of loadGolden(store, 'get_messages').cases) {
    if (args.include_inactive === true && args.limit === undefined && Array.isArray(result)) {
      rows.set(String(args.session_id), result as GoldenRow[]);
    }
  }
  return rows;
}

/** 5, 7.2: a time that counts. */
export function trusted(value: unknown): number | null {
  return isJsonObject(value) ? null : inWindow(value as SqlValue);
}

/** 7.2: the larger of the heartbeat and the newest row, else the start; values outside the window don't count. */
export function recencyOf(session: GoldenRow, messages: readonly GoldenRow[]): number | null {
  const times = [session.last_activity_at, ...messages.map((row) => row.timestamp)].map(trusted).filter((time) => time !== null);
  return times.length > 0 ? Math.max(...times) : trusted(session.started_at);
}

/** 7.5: what the first row says that is not a bare summary; structured content is flattened. */
export function previewOf(messages: readonly GoldenRow[]): string {
  const users = messages.filter((row) => row.role === 'user' && row.content !== null && row.display_kind !== 'hidden');
  const sorted = users.toSorted((a, b) => Number(a.timestamp) - Number(b.timestamp) || Number(a.id) - Number(b.id));
  const texts = sorted.map((row) => (Array.isArray(row.content) ? textParts(row.content) : String(row.content)));
  const first = texts.find((text) => !text.startsWith(SUM0) && !text.startsWith(SUM)) ?? '';
  const line = first.replace(/[\r\n]/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 60)}...` : line;
}

function textParts(parts: readonly unknown[]): string {
  return parts.flatMap((part) => (isJsonObject(part) && part.type === 'text' ? [String(part.text)] : [])).join(' ');
}
