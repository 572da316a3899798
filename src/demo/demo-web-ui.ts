/** What the demo's Web UI keeps beside the stores: a session that only a file has, one that is in both places, a project, settings. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DemoContent } from './demo-lineages.ts';
import { type SidecarFields, type SidecarMessage, sidecarText } from './sidecar-files.ts';

const SHARED_TITLE = 'A name for the boat';
const HOLIDAYS = '5c0a57a11e1d';
/** Chats and terminal sessions are shown with the rest, which the Web UI does not do by itself. */
const SETTINGS = { show_cli_sessions: true, show_previous_messaging_sessions: true };
const PACKING: readonly (readonly [role: string, content: string])[] = [
  ['user', 'Two weeks at the coast in a small tent. What do people forget?'],
  ['assistant', 'Pegs that hold in sand, a second gas cartridge, a dry bag for the phone, and something to read when it rains.'],
  ['user', 'We cycle there.'],
  ['assistant', 'Then leave the second cartridge and buy one on the way; take a spare tube, and put the dry bag on top.'],
];
const PACKED_SECONDS_AGO = 5400;

/** Writes the folder; `now` in epoch seconds. */
export function writeWebUi(webUiDir: string, content: DemoContent, now: number): void {
  const started = now - PACKED_SECONDS_AGO;
  const said = PACKING.map(([role, text], index) => ({ role, content: text, timestamp: started + index * 40 }));
  writeSidecar(webUiDir, 'e41f6b7c9d20', { title: 'Packing for the coast', project_id: HOLIDAYS, ...timesOf(said) }, said);
  writeShared(webUiDir, content);
  const project = { project_id: HOLIDAYS, name: 'Holidays', color: '#0ea5e9', profile: 'default', created_at: started };
  writeFile(join(webUiDir, 'projects.json'), [project]);
  writeFile(join(webUiDir, 'settings.json'), SETTINGS);
}

/** The file of a session that the store has too knows of an answer that was stopped before it came there. */
function writeShared(webUiDir: string, { sessions }: DemoContent): void {
  const draft = sessions.find(({ columns }) => columns.title === SHARED_TITLE);
  if (draft === undefined) throw new Error(`the demo has no session "${SHARED_TITLE}"`);
  const live = draft.rows.filter(({ columns }) => columns.active !== 0);
  const stored = live.map(({ columns: { role, content, timestamp } }) => ({ role, content, timestamp }));
  const last = Number(stored.at(-1)?.timestamp ?? 0);
  const messages = [
    ...stored,
    { role: 'user', content: 'And for the dinghy?', timestamp: last + 30 },
    { role: 'assistant', content: 'Something smaller of the same kind: the Plover, or', timestamp: last + 34, _partial: true },
  ];
  writeSidecar(webUiDir, String(draft.columns.id), { title: SHARED_TITLE, model: draft.columns.model, ...timesOf(messages) }, messages);
}

function timesOf(messages: readonly { readonly timestamp?: unknown }[]): SidecarFields {
  return { created_at: messages[0]?.timestamp ?? null, updated_at: messages.at(-1)?.timestamp ?? null };
}

function writeSidecar(webUiDir: string, sessionId: string, fields: SidecarFields, messages: readonly SidecarMessage[]): void {
  const path = join(webUiDir, 'sessions', `${sessionId}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, sidecarText({ fields: { ...fields, session_id: sessionId, profile: 'default' }, messages }));
}

function writeFile(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
