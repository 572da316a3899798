/** Homes whose owning programs are played by another process, for tests that follow turns; removed after the tests of the file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startWebUi, type WebUi } from './web-ui-turn.ts';

const homes: string[] = [];
const uis: WebUi[] = [];
afterAll(async () => {
  await Promise.all(uis.map((ui) => ui.close()));
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** A home with a session `s`. */
export async function playedHome(): Promise<{ home: string; ui: WebUi }> {
  const home = mkdtempSync(join(tmpdir(), 'caduceus-live-'));
  homes.push(home);
  const ui = await startWebUi({ home });
  uis.push(ui);
  await ui.createSession('s', { title: 'Tea' });
  return { home, ui };
}
