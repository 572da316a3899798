/** Session files of the Web UI, each by itself (`spec/webui-sidecars.md` 2, 4.1, 5). */
import type { SidecarHealth, SidecarRow } from '../../web-ui/sidecar/sidecar-row.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';
import type { WebUiFiles } from '../sources.ts';

const CODES: Readonly<Record<SidecarHealth, CodeName | null>> = {
  OK: null,
  UNKNOWN: null,
  CORRUPT: 'SIDECAR_CORRUPT',
  DAMAGED_ENCODING: 'SIDECAR_ENCODING',
  TOO_LARGE: 'SIDECAR_TOO_LARGE',
  UNREADABLE: 'SIDECAR_UNREADABLE',
};
const OF_IDS: ReadonlySet<string> = new Set(['ID_MISMATCH', 'ID_MISSING']);

/** By the beginnings of the files. */
export const sessionFiles: Check = {
  name: 'session-files',
  area: 'FILES',
  run: async ({ webUi, profile }) => {
    const files = await webUi();
    if (files === null) return [];
    const { duplicates, ignoredFiles } = files.facts.sidecars;
    return [
      ...[...files.own.values()].flatMap((row) => ofRow(row, files, profile)),
      ...duplicates.map((subject) => finding('SIDECAR_DUPLICATE', profile, { subject })),
      ...ignoredFiles.map((subject) => finding('FILE_IGNORED', profile, { subject })),
    ];
  },
};

function ofRow({ id, health, warnings, innerId }: SidecarRow, files: WebUiFiles, profile: string): Finding[] {
  const code = CODES[health];
  const found = code === null ? [] : [ofHealth(code, id, files, profile)];
  const isOther = innerId !== null && innerId !== id && files.facts.sidecars.rows.get(id)?.health !== 'CORRUPT';
  if (isOther) found.push(finding('SIDECAR_ID_MISMATCH', profile, { subject: id }));
  const odd = warnings.filter((warning) => !OF_IDS.has(warning.code)).length;
  if (odd > 0) found.push(finding('SIDECAR_ODD_VALUES', profile, { subject: id, count: odd }));
  return found;
}

function ofHealth(code: CodeName, id: string, { listing }: WebUiFiles, profile: string): Finding {
  return finding(code, profile, { subject: id, values: { backup: listing.backups.includes(id) ? 'yes' : 'no' } });
}

/** By all of each file: one that is sound at its beginning may be torn behind it. */
export const wholeFiles: Check = {
  name: 'whole-session-files',
  area: 'FILES',
  onlyDeep: true,
  run: async ({ files, webUi, profile }) => {
    const folder = await webUi();
    if (folder === null) return [];
    const { sidecars } = await files();
    const ofHealths = sidecars.flatMap(({ id, health }) => {
      const code = CODES[health];
      return code === null ? [] : [ofHealth(code, id, folder, profile)];
    });
    const waiting = sidecars.filter(({ retryOf }) => retryOf !== null);
    return [...ofHealths, ...waiting.map(({ id }) => finding('JOURNAL_RETRY_WAITING', profile, { subject: id }))];
  },
};
