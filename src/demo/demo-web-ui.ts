/**
 * What the demo's Web UI keeps beside the stores: a session that only a file has and whose last turn was cut off, one that is in both places, a
 * project, settings.
 */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DemoContent } from './demo-lineages.ts';
import { runJournalText } from './run-journal-writer.ts';
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
const PACKING_ID = 'e41f6b7c9d20';
/** Asked half an hour later; the Web UI was killed over the answer. */
const FERRY = { question: 'Is there a ferry that takes bicycles?', run: '6f1d0c9e8b7a4f53921e0d4c3b2a1908', secondsLater: 1800 };
const FERRY_ANSWER = ['There are two, both from the old harbour. ', 'The early one is slower but '];

/** Writes the folder; `now` in epoch seconds. */
export function writeWebUi(webUiDir: string, content: DemoContent, now: number): void {
  const started = now - PACKED_SECONDS_AGO;
  const said = PACKING.map(([role, text], index) => ({ role, content: text, timestamp: started + index * 40 }));
  writeCutOff(webUiDir, { title: 'Packing for the coast', project_id: HOLIDAYS, ...timesOf(said) }, said, started + FERRY.secondsLater);
  writeShared(webUiDir, content);
  const project = { project_id: HOLIDAYS, name: 'Holidays', color: '#0ea5e9', profile: 'default', created_at: started };
  writeFile(join(webUiDir, 'projects.json'), [project]);
  writeFile(join(webUiDir, 'settings.json'), SETTINGS);
}

/** The prompt waits in the file, and what there was of the answer lies in the journal of its run. `at`: epoch seconds. */
function writeCutOff(webUiDir: string, fields: SidecarFields, said: readonly SidecarMessage[], at: number): void {
  const turn = {
    active_stream_id: FERRY.run,
    pending_user_message: FERRY.question,
    pending_started_at: at,
    pending_user_source: 'webui',
  };
  const file = writeSidecar(webUiDir, PACKING_ID, { ...fields, ...turn }, said);
  const run = { sessionId: PACKING_ID, runId: FERRY.run };
  const lines = FERRY_ANSWER.map((text, index) =>
    runJournalText(run, { seq: index + 1, event: 'token', payload: { text }, createdAt: at + 2 + index }),
  );
  const journal = join(webUiDir, 'sessions', '_run_journal', PACKING_ID, `${FERRY.run}.jsonl`);
  mkdirSync(dirname(journal), { recursive: true });
  writeFileSync(journal, lines.map((line) => `${line}\n`).join(''));
  // A file that was just written is one of a turn that runs.
  for (const path of [file, journal]) utimesSync(path, at + 4, at + 4);
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

function writeSidecar(webUiDir: string, sessionId: string, fields: SidecarFields, messages: readonly SidecarMessage[]): string {
  const path = join(webUiDir, 'sessions', `${sessionId}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, sidecarText({ fields: { ...fields, session_id: sessionId, profile: 'default' }, messages }));
  return path;
}

function writeFile(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
