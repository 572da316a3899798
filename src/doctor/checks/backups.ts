/** Backups that are the better copy (`spec/webui-sidecars.md` 7.1, 7.4; `spec/webui-recovery.md` 20.3). */
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

/** Unless everything is read, only backups that are larger than their files. */
export const backups: Check = {
  name: 'backups',
  area: 'FILES',
  run: async ({ files, webUi, unknownIds, profile }) => {
    const folder = await webUi();
    if (folder === null) return [];
    const there = new Set(folder.listing.ids);
    const { backups: examined } = await files();
    const orphans = examined.filter(({ id }) => !there.has(id) && !folder.facts.deleted.has(id));
    const unknown = new Set(await unknownIds(orphans.map(({ id }) => id)));
    const ofOrphans = orphans.map(({ id, backupMessages }) =>
      finding(backupMessages < 0 || unknown.has(id) ? 'BACKUP_UNUSABLE' : 'BACKUP_ORPHAN', profile, { subject: id }),
    );
    // Of a file that can't be used the check of files says that there is a backup.
    const better: Finding[] = examined
      .filter(({ id, advised }) => advised && there.has(id) && folder.facts.sidecars.rows.get(id)?.health !== 'CORRUPT')
      .map(({ id, liveMessages, backupMessages }) =>
        finding('BACKUP_HAS_MORE', profile, { subject: id, detail: `It has ${backupMessages}, the file ${Math.max(0, liveMessages)}.` }),
      );
    return [...better, ...ofOrphans];
  },
};
