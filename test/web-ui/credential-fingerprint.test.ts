/** Whether credentials changed since a pause (`spec/webui-sidecars.md` 12.3, 19). */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { credentialFingerprint, credentialStateChanged } from '../../src/web-ui/credential-fingerprint.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'caduceus-home-'));
  writeFileSync(join(home, 'config.yaml'), 'a: 1\n');
  auth({});
});
afterEach(() => rmSync(home, { recursive: true }));

function auth(changes: Readonly<Record<string, unknown>>): void {
  const credential = { access_token: 'secret-1', expires_at: 5, label: 'main', weight: 1.5, ...changes };
  writeFileSync(join(home, 'auth.json'), JSON.stringify({ pool: [credential], updated_at: Math.random() }));
}
const now = () => credentialFingerprint(home, ' Work ');

it('T64: a token that is rotated changes nothing, one that is emptied does', async () => {
  const before = await now();
  expect(before).toMatch(/^[0-9a-f]{64}$/);
  auth({ access_token: 'secret-2', expires_at: 99, Last_Status: 'ok' });
  expect(await now()).toBe(before);
  auth({ access_token: ' ' });
  expect(await now()).not.toBe(before);
  auth({ label: 'other' });
  expect(await now()).not.toBe(before);
});

it('T64: a configuration that is touched, added or removed changes it', async () => {
  const before = await now();
  utimesSync(join(home, 'config.yaml'), 1, 1);
  const touched = await now();
  writeFileSync(join(home, '.env'), '');
  const added = await now();
  rmSync(join(home, 'auth.json'));
  expect(new Set([before, touched, added, await now()]).size).toBe(4);
  expect(await credentialFingerprint(home, 'work')).toBe(await now());
});

it('T65: a pause without a fingerprint counts as changed', async () => {
  const pause = (credentialFingerprint: string | null) => ({
    ...{ classification: null, model: null, provider: null, firstPausedAt: null, lastErrorAt: null },
    ...{ visibleErrorCount: 1, suppressedCount: 0, lastSuppressedAt: null, lastSuppressedReason: null, credentialFingerprint },
  });
  expect(credentialStateChanged(pause(null), await now())).toBe(true);
  expect(credentialStateChanged(pause(await now()), await now())).toBe(false);
  expect(credentialStateChanged(pause('0'.repeat(64)), await now())).toBe(true);
});

it('a file that is no JSON counts by its time and size', async () => {
  writeFileSync(join(home, 'auth.json'), '{broken');
  const before = await now();
  utimesSync(join(home, 'auth.json'), 1, 1);
  expect(await now()).not.toBe(before);
});
