/** Homes as folders: the path of a store stands for the folder that it lies in, with the Web UI's below. */
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './stores.ts';

/** Everything, in a folder of its own; gives the path of the store there. */
export function copyOfHome(path: string, { preserveTimestamps = false } = {}): string {
  const folder = temporaryFolder();
  cpSync(dirname(path), folder, { recursive: true, preserveTimestamps });
  return join(folder, 'state.db');
}

/** Every file of the Web UI's folder, without what a killed writer left behind. */
export function webUiFiles(path: string): Record<string, string> {
  const root = join(dirname(path), 'webui');
  return Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(root, name)).isFile() && !name.includes('.tmp.'))
      .sort()
      .map((name) => [name, readFileSync(join(root, name), 'utf8')]),
  );
}
