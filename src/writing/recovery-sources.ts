/**
 * Where the recoveries of a profile's session files find what they need: files, journals, the agent's transcripts and the store.
 */

import { runJournalRoot, turnJournalRoot } from '../live/journal/ids.ts';
import { RunSummaries } from '../live/journal/run-summary.ts';
import { TurnEvidenceReader } from '../live/liveness/turn-evidence.ts';
import { FileReading } from '../web-ui/file-reading.ts';
import { indexPath, readIndex } from '../web-ui/index-file/index-file.ts';
import { askWebUi } from '../web-ui/recovery/ask-web-ui.ts';
import { readCoreTranscript } from '../web-ui/recovery/core-transcript.ts';
import type { TurnSources } from '../web-ui/recovery/judge-turn.ts';
import type { RecoverySources } from '../web-ui/recovery/recover-session.ts';
import { ancestorsOf, childrenOf } from '../web-ui/recovery/repair-guards.ts';
import { type Fields, word } from '../web-ui/sidecar/coercions.ts';
import { SidecarCatalogue } from '../web-ui/sidecar/sidecar-catalogue.ts';
import { sessionSummaries } from '../web-ui/transcript/session-summaries.ts';
import { readStateMessages } from '../web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../write-refused.ts';
import { type CommandHost, reading } from './command.ts';
import { sessionsDirOf } from './file-command.ts';

/** What is kept of the files of one profile, so that those which did not change are not read again. */
interface Kept {
  readonly files: SidecarCatalogue;
  readonly children: FileReading<ReadonlyMap<string, Fields>>;
  readonly sources: RecoverySources;
}

const kept = new WeakMap<CommandHost, Kept>();

/** For one recovery: each question is answered from the files as they are then. */
export function recoverySources(host: CommandHost): RecoverySources {
  return keptOf(host).sources;
}

/** For judging many sessions as of one moment: files are listed once, and the store is asked once. */
export async function judgingSources(host: CommandHost, ids: readonly string[]): Promise<TurnSources> {
  const { files, children, sources } = keptOf(host);
  const [{ rows }, indexed, times] = await Promise.all([
    files.snapshot(),
    indexedChildren(children, sources.sessionsDir),
    storedTimes(host, ids),
  ]);
  return {
    ...sources,
    ancestors: async (id) => ancestorsOf(id, rows),
    children: async (id) => childrenOf(id, rows.values(), indexed),
    storedAt: async (id) => times.get(id) ?? null,
  };
}

function keptOf(host: CommandHost): Kept {
  const known = kept.get(host);
  if (known !== undefined) return known;
  const files = new SidecarCatalogue({ sessionsDir: sessionsDirOf(host) });
  const children = new FileReading<ReadonlyMap<string, Fields>>();
  const made = { files, children, sources: newSources(host, files, children) };
  kept.set(host, made);
  return made;
}

function newSources(host: CommandHost, files: SidecarCatalogue, children: Kept['children']): RecoverySources {
  const { webUiUrl } = host;
  const sessionsDir = sessionsDirOf(host);
  const turns = new TurnEvidenceReader(turnJournalRoot(sessionsDir));
  const runs = new RunSummaries(runJournalRoot(sessionsDir));
  return {
    sessionsDir,
    now: host.now,
    run: (sessionId, runId) => runs.get(sessionId, runId),
    askWebUi: webUiUrl === null ? async () => null : (streamId) => askWebUi(webUiUrl, streamId),
    turn: (sessionIds, runId) => turns.read(sessionIds, runId),
    ancestors: async (id) => ancestorsOf(id, (await files.snapshot()).rows),
    children: async (id) => {
      const [{ rows }, indexed] = await Promise.all([files.snapshot(), indexedChildren(children, sessionsDir)]);
      return childrenOf(id, rows.values(), indexed);
    },
    storedAt: async (id) => (await storedTimes(host, [id])).get(id) ?? null,
    core: (id) => readCoreTranscript(host.home, id),
    summary: async (id) => {
      const found = (await reading(host, (store) => sessionSummaries(store, [id]))).get(id);
      return found === undefined || found.messageCount === 0 ? null : { count: found.messageCount, lastAt: found.lastMessageAt || null };
    },
    rows: (id) => reading(host, (store) => readStateMessages(store, id).messages),
  };
}

/** Rows of the index that name a parent: the rest, with its drafts and summaries, is not kept. */
function indexedChildren(children: Kept['children'], sessionsDir: string): Promise<ReadonlyMap<string, Fields>> {
  return children.read(indexPath(sessionsDir), async () => {
    const { rows } = await readIndex(sessionsDir);
    return new Map([...rows].filter(([, { parent_session_id: parent }]) => word(parent) !== null));
  });
}

/** The times of the newest rows in the store, epoch seconds; sessions without are left out. */
async function storedTimes(host: CommandHost, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  try {
    const found = await reading(host, (store) => sessionSummaries(store, ids));
    return new Map([...found].flatMap(([id, { lastMessageAt }]) => (lastMessageAt === 0 ? [] : [[id, lastMessageAt]])));
  } catch (error) {
    // A store that can't be read says nothing of its sessions; their files do.
    if (error instanceof WriteRefused) return new Map();
    throw error;
  }
}
