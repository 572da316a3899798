/** The Web UI's home of the fixtures, copied, for comparisons with upstream. */
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixturesDir } from '../support/golden.ts';

export interface WebUiHome {
  readonly stateDir: string;
  readonly sessionsDir: string;
  close(): void;
}

export function openWebUiHome(store: string): WebUiHome {
  const home = mkdtempSync(join(tmpdir(), 'caduceus-webui-'));
  cpSync(join(fixturesDir(), 'stores', store), home, { recursive: true });
  makeWritable(home);
  const stateDir = join(home, 'webui');
  return { stateDir, sessionsDir: join(stateDir, 'sessions'), close: () => rmSync(home, { recursive: true, force: true }) };
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) makeWritable(path);
    else chmodSync(path, 0o600);
  }
}
