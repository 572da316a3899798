/** What writers left behind (`spec/webui-sidecars.md` 1.4; `spec/webui-transcript.md` 19.5, 19.6). */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../live/journal/open-journal.ts';
import { parseJson } from '../../state-db/decode.ts';
import { readSmallFile } from '../../web-ui/small-file.ts';
import { staleTemporaryFiles } from '../../web-ui/temporary-files.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

export const temporaryFiles: Check = {
  name: 'temporary-files',
  area: 'LEFTOVERS',
  run: async ({ webUi, profile, now }) => {
    const files = await webUi();
    if (files === null) return [];
    const stale = await staleTemporaryFiles(files.sessionsDir, { now });
    return stale.map(({ name, leftByRestore }) =>
      finding(leftByRestore ? 'RESTORE_LEFTOVER' : 'TEMPORARY_FILE', profile, { subject: name }),
    );
  },
};

const MANIFEST = /^\.cleanup_manifest_[0-9a-f]{32}\.json$/;
/** The ids of one deletion. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Deletions of the Web UI whose files are still to go. */
export const cleanupManifests: Check = {
  name: 'cleanup-manifests',
  area: 'LEFTOVERS',
  run: async ({ home, profile }) => {
    const folder = join(home, 'sessions');
    const found: Finding[] = [];
    for (const name of await manifestsIn(folder)) {
      const { bytes } = await readSmallFile(join(folder, name), MOST_BYTES);
      const ids = bytes === null ? undefined : parseJson(bytes.toString('utf8'));
      const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
      found.push(
        finding(isList ? 'CLEANUP_PENDING' : 'CLEANUP_MALFORMED', profile, { subject: name, count: isList ? Math.max(1, ids.length) : 1 }),
      );
    }
    return found;
  },
};

async function manifestsIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => MANIFEST.test(name)).sort();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
