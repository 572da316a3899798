/** Sidecars and turn journals as the Web UI writes them, for tests (`spec/webui-sidecars.md` 3.7, `spec/live-turns.md` 4). */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './stores.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A new folder `sessions`; removed with the stores. */
export function newSessionsDir(): string {
  const folder = join(temporaryFolder(), 'webui', 'sessions');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function sidecarPath(sessionsDir: string, sessionId: string): string {
  return join(sessionsDir, `${sessionId}.json`);
}

/** The text of a sidecar: the fields, then the messages, then what the owner writes behind them. */
export function sidecarText(sessionId: string, fields: Fields = {}, messages: readonly unknown[] = [], behind: Fields = {}): string {
  const { message_count = messages.length, ...others } = fields;
  return JSON.stringify(
    {
      session_id: sessionId,
      title: 'Untitled',
      model: 'm',
      updated_at: 1_782_000_000,
      profile: null,
      active_stream_id: null,
      pending_user_message: null,
      pending_attachments: [],
      pending_started_at: null,
      pending_user_source: null,
      pre_compression_snapshot: false,
      recommended_recovery_action: null,
      llm_title_generated: false,
      manual_title: false,
      parent_session_id: null,
      ...others,
      message_count,
      anchor_scene_index: {},
      messages,
      tool_calls: [],
      anchor_activity_scenes: {},
      context_messages: [],
      ...behind,
    },
    null,
    2,
  );
}

/** Replaces the file as the owner does: written beside, then renamed. */
export function saveSidecar(sessionsDir: string, sessionId: string, text: string): void {
  const temporary = join(sessionsDir, `${sessionId}.tmp.${process.pid}.1`);
  writeFileSync(temporary, text);
  renameSync(temporary, sidecarPath(sessionsDir, sessionId));
}

export function shardPath(sessionsDir: string, sessionId: string, pid: number): string {
  return join(sessionsDir, '_turn_journal', `${sessionId}~${pid}.jsonl`);
}

/** Appends lines to the shard of a process. */
export function writeTurns(sessionsDir: string, sessionId: string, pid: number, lines: readonly Fields[]): void {
  const path = shardPath(sessionsDir, sessionId, pid);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, lines.map((line) => `${JSON.stringify({ version: 1, session_id: sessionId, ...line })}\n`).join(''));
}
