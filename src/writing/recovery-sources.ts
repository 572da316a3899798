/**
 * Where the recoveries of a profile's session files find what they need: files, journals, the agent's transcripts and the store.
 */

import { runJournalRoot, turnJournalRoot } from '../live/journal/ids.ts';
import { TurnEvidenceReader } from '../live/liveness/turn-evidence.ts';
import { readIndex } from '../web-ui/index-file/index-file.ts';
import { askWebUi } from '../web-ui/recovery/ask-web-ui.ts';
import { readCoreTranscript } from '../web-ui/recovery/core-transcript.ts';
import type { RecoverySources } from '../web-ui/recovery/recover-session.ts';
import { ancestorsOf, childrenOf } from '../web-ui/recovery/repair-guards.ts';
import { readRunJournal } from '../web-ui/recovery/run-lines.ts';
import { SidecarCatalogue } from '../web-ui/sidecar/sidecar-catalogue.ts';
import { sessionSummaries } from '../web-ui/transcript/session-summaries.ts';
import { readStateMessages } from '../web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../write-refused.ts';
import { type CommandHost, reading } from './command.ts';
import { sessionsDirOf } from './file-command.ts';

const made = new WeakMap<CommandHost, RecoverySources>();

/** The same for all recoveries of a process, so that files which did not change are not read again. */
export function recoverySources(host: CommandHost): RecoverySources {
  const known = made.get(host);
  if (known !== undefined) return known;
  const sources = newSources(host);
  made.set(host, sources);
  return sources;
}

function newSources(host: CommandHost): RecoverySources {
  const { webUiUrl } = host;
  const sessionsDir = sessionsDirOf(host);
  const files = new SidecarCatalogue({ sessionsDir });
  const turns = new TurnEvidenceReader(turnJournalRoot(sessionsDir));
  const summary = async (id: string) => {
    const found = (await reading(host, (store) => sessionSummaries(store, [id]))).get(id);
    return found === undefined || found.messageCount === 0 ? null : { count: found.messageCount, lastAt: found.lastMessageAt || null };
  };
  return {
    sessionsDir,
    now: host.now,
    run: async (sessionId, runId) => {
      const run = await readRunJournal(runJournalRoot(sessionsDir), { sessionId, runId });
      if (run === null) return null;
      const { terminalState, lastCreatedAt, isEmpty } = run;
      return { terminal: terminalState !== null, terminalState: terminalState ?? (isEmpty ? 'unknown' : 'running'), lastCreatedAt };
    },
    askWebUi: webUiUrl === null ? async () => null : (streamId) => askWebUi(webUiUrl, streamId),
    turn: (sessionIds, runId) => turns.read(sessionIds, runId),
    ancestors: async (id) => ancestorsOf(id, (await files.snapshot()).rows),
    children: async (id) => {
      const [{ rows }, index] = await Promise.all([files.snapshot(), readIndex(sessionsDir)]);
      return childrenOf(id, rows.values(), index.rows);
    },
    storedAt: async (id) => {
      try {
        return (await summary(id))?.lastAt ?? null;
      } catch (error) {
        // A store that can't be read says nothing of the session; its files do.
        if (error instanceof WriteRefused) return null;
        throw error;
      }
    },
    core: (id) => readCoreTranscript(host.home, id),
    summary,
    rows: (id) => reading(host, (store) => readStateMessages(store, id).messages),
  };
}
