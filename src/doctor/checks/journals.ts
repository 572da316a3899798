/** Run journals and turn journals (`spec/live-turns.md` 3.5, 4, 9; `spec/webui-recovery.md` 3.6, 4). */
import { runsIn, sessionsWithRuns } from '../../web-ui/examination/examine-journals.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';
import type { DoctorSources } from '../sources.ts';

/** A run that is silent for longer than this, and that no session names as under way, is over (`spec/live-turns.md` 9). */
const QUIET_SECONDS = 300;

/** By the names of the folders alone. */
export const orphanJournals: Check = {
  name: 'orphan-journals',
  area: 'JOURNALS',
  run: async ({ webUi, unknownIds, profile }) => {
    const files = await webUi();
    if (files === null) return [];
    const there = new Set(files.listing.ids);
    const orphans = await unknownIds((await sessionsWithRuns(files.sessionsDir)).filter((id) => !there.has(id)));
    const found: Finding[] = [];
    for (const subject of orphans) {
      if ((await runsIn(files.sessionsDir, subject)).length > 0) found.push(finding('JOURNAL_ORPHAN', profile, { subject }));
    }
    return found;
  },
};

export const journals: Check = {
  name: 'run-journals',
  area: 'JOURNALS',
  onlyDeep: true,
  run: async (sources) => {
    const { runs } = await sources.files();
    const under = await runsUnderWay(sources);
    return runs.flatMap(({ sessionId, runId, malformedLines, open, grewAt }) => {
      const subject = `${sessionId}/${runId}`;
      const found: Finding[] =
        malformedLines > 0 ? [finding('JOURNAL_MALFORMED', sources.profile, { subject, count: malformedLines })] : [];
      const isQuiet = sources.now() - (grewAt ?? 0) > QUIET_SECONDS;
      if (open && isQuiet && !under.has(runId)) found.push(finding('JOURNAL_WITHOUT_END', sources.profile, { subject }));
      return found;
    });
  },
};

export const turnJournals: Check = {
  name: 'turn-journals',
  area: 'JOURNALS',
  onlyDeep: true,
  run: async (sources) => {
    const { turns } = await sources.files();
    const under = await runsUnderWay(sources);
    return turns.flatMap(({ sessionId, malformedLines, open }) => {
      const left = open.filter(({ runId, at }) => sources.now() - at > QUIET_SECONDS && (runId === null || !under.has(runId)));
      return [
        ...(left.length > 0 ? [finding('TURN_NOT_ENDED', sources.profile, { subject: sessionId, count: left.length })] : []),
        ...(malformedLines > 0 ? [finding('TURN_JOURNAL_MALFORMED', sources.profile, { subject: sessionId, count: malformedLines })] : []),
      ];
    });
  },
};

/** Runs that a session names as its own and that are not known to be over. */
async function runsUnderWay({ webUi, judgedTurns }: DoctorSources): Promise<Set<string>> {
  const judged = await judgedTurns();
  const owning = [...((await webUi())?.own.values() ?? [])].filter(({ id }) => judged.get(id)?.live !== 'DEAD');
  return new Set(owning.flatMap(({ activeStreamId }) => activeStreamId ?? []));
}
