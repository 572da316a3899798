/** A home with a store and session files, for commands without a server, and everything that its folder of sessions holds. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rebuildIndex } from '../../src/web-ui/index-file/rebuild-index.ts';
import { buildStore, type Row } from './stores.ts';

export interface WebUiFolder {
  /** Of the store. */
  readonly path: string;
  readonly sessionsDir: string;
}

/** `files`: names in the folder with their texts. The index is made of them, and `index` lays rows without a file beside theirs. */
export async function webUiFolder(
  rows: readonly Row[],
  files: Readonly<Record<string, string>>,
  { index = [], isIndexed = true }: { readonly index?: readonly object[]; readonly isIndexed?: boolean } = {},
): Promise<WebUiFolder> {
  const path = buildStore({ schema: 31, rows });
  const sessionsDir = join(dirname(path), 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(sessionsDir, name)), { recursive: true });
    writeFileSync(join(sessionsDir, name), text);
  }
  if (isIndexed) {
    await rebuildIndex(sessionsDir);
    const indexPath = join(sessionsDir, '_index.json');
    const made = JSON.parse(readFileSync(indexPath, 'utf8')) as object[];
    if (index.length > 0) writeFileSync(indexPath, JSON.stringify([...made, ...index], null, 2));
  }
  return { path, sessionsDir };
}

/** Every file of a folder with its text, without what a killed writer left behind. */
export function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile() && !name.includes('.tmp.'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
  );
}

/** The same with temporary files and times: two looks are equal when nothing at all was written between. */
export function everythingIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const seen = statSync(join(folder, name), { bigint: true });
        const text = seen.isFile() ? readFileSync(join(folder, name), 'latin1') : '';
        return [name, `${seen.mtimeNs} ${seen.ino} ${text}`];
      }),
  );
}
