/** The Web UI's index, its lists of ids and projects, and sessions of the store that lack a file (`spec/webui-sidecars.md` 7.4, 8.6, 9, 13). */
import { hasOverlayStore } from '../../web-ui/sidecar/save-sidecar.ts';
import { readTombstones } from '../../web-ui/tombstones.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding, findings } from '../finding.ts';
import type { WebUiFiles } from '../sources.ts';

const MOST_IDS = 50;

export const sessionIndex: Check = {
  name: 'session-index',
  area: 'FILES',
  run: async ({ sessionIndex: read, webUi, profile }) => {
    const [index, files] = await Promise.all([read(), webUi()]);
    if (index === null || files === null) return [];
    if (index.status === 'MISSING') return files.facts.sidecars.rows.size === 0 ? [] : [finding('SESSION_INDEX_MISSING', profile)];
    if (index.status === 'CORRUPT') return [finding('SESSION_INDEX_CORRUPT', profile)];
    const of = (code: CodeName, ids: readonly string[]) => findings(code, profile, { count: ids.length, ids: ids.slice(0, MOST_IDS) });
    return [
      ...of('SESSION_INDEX_GHOST', index.missingFiles),
      ...of('SESSION_INDEX_LACKS', sound(index.missingRows, files)),
      ...of('SESSION_INDEX_BEHIND', index.laggingRows),
      ...of('SESSION_INDEX_DOUBLE', index.duplicateIds),
    ];
  },
};

/** A file that can't be used has no row in any index. */
function sound(ids: readonly string[], { facts }: WebUiFiles): string[] {
  return ids.filter((id) => !['CORRUPT', 'UNREADABLE'].includes(facts.sidecars.rows.get(id)?.health ?? ''));
}

export const missingFiles: Check = {
  name: 'missing-session-files',
  area: 'FILES',
  run: async ({ examination, webUi, profile }) => {
    const files = await webUi();
    if (files === null) return [];
    const there = new Set(files.listing.ids);
    const without = (await examination()).rows.webUi.filter(([id]) => !there.has(id) && !files.facts.deleted.has(id));
    const missing = without.filter(([, messages]) => messages > 0).map(([id]) => id);
    const empty = without.filter(([id, messages]) => messages === 0 && !files.facts.zeroMessages.has(id)).map(([id]) => id);
    return [
      ...findings('SIDECAR_MISSING', profile, { count: missing.length, ids: missing.slice(0, MOST_IDS) }),
      ...findings('STORE_ORPHAN', profile, { count: empty.length, ids: empty.slice(0, MOST_IDS) }),
    ];
  },
};

/** The other files of the folder. */
export const smallFiles: Check = {
  name: 'lists-of-the-web-ui',
  area: 'FILES',
  run: async ({ webUi, profile }) => {
    const files = await webUi();
    if (files === null) return [];
    const found: Finding[] = [];
    for (const kind of ['DELETED', 'ORPHAN'] as const) {
      const { status } = await readTombstones(files.sessionsDir, kind);
      if (status === 'UNSUPPORTED') found.push(finding('TOMBSTONES_NEWER', profile, { subject: kind }));
      if (status === 'UNREADABLE') found.push(finding('TOMBSTONES_UNREADABLE', profile, { subject: kind }));
    }
    if (files.facts.projects.status === 'UNREADABLE') found.push(finding('PROJECTS_UNREADABLE', profile));
    if (await hasOverlayStore(files.sessionsDir)) found.push(finding('SESSION_DATABASE', profile));
    return found;
  },
};
