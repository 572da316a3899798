/** Reading and editing while another process saves (`spec/webui-sidecars.md` 15). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readMetadata } from '../../../src/web-ui/sidecar/read-metadata.ts';
import { readSidecar } from '../../../src/web-ui/sidecar/read-sidecar.ts';
import { SidecarCatalogue } from '../../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { updateSession } from '../../../src/web-ui/sidecar/update-session.ts';
import { WriteRefused } from '../../../src/write-refused.ts';
import { parsed, putSession, sessionsFolder, user } from '../sidecar-folder.ts';

/** Reads the file, adds to what is in it, writes it beside and renames, as the Web UI does, until its input ends. */
const SAVER = `
  const { readFileSync, writeFileSync, renameSync } = require('node:fs');
  const [path] = process.argv.slice(1);
  let saves = 0;
  let ended = false;
  process.stdin.on('end', () => { ended = true; }).resume();
  function save() {
    const session = JSON.parse(readFileSync(path, 'utf8'));
    saves += 1;
    session.saves = saves;
    session.messages.push({ role: 'user', content: 'x'.repeat(saves % 5000), timestamp: saves });
    if (session.messages.length > 20) session.messages.splice(0, 10);
    session.message_count = session.messages.length;
    const temporary = path.replace(/json$/, 'tmp.1.1');
    writeFileSync(temporary, JSON.stringify(session, null, 2));
    renameSync(temporary, path);
    if (ended) process.stdout.write(String(saves));
    else setTimeout(save, saves % 3);
  }
  save();
`;

it('no read is torn, no member is lost, and what came too late is a conflict', async () => {
  const folder = sessionsFolder();
  const path = putSession(folder, 'x', { messages: [user('a')], foo: { keep: 'this' } });
  const keys = Object.keys(parsed(path));
  const catalogue = new SidecarCatalogue({ sessionsDir: folder });
  const saver = spawn(process.execPath, ['-e', SAVER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(saver, 'exit');
  let [written, conflicts, reads] = [0, 0, 0];
  const until = performance.now() + 2500;
  for (let turn = 0; performance.now() < until || ((written === 0 || conflicts === 0) && performance.now() < until + 10_000); turn++) {
    const [whole, head, listed] = await Promise.all([readSidecar(folder, 'x'), readMetadata(folder, 'x'), catalogue.snapshot()]);
    expect([whole?.row.health, head?.health]).toEqual(['OK', 'UNKNOWN']);
    expect(listed.rows.get('x')?.title).toBeDefined();
    expect(whole?.fields?.foo).toEqual({ keep: 'this' });
    expect(whole?.messages).toHaveLength(whole?.row.messageCount ?? -1);
    reads++;
    try {
      await updateSession(folder, 'x', { composerDraft: { text: `draft ${turn}` }, pinned: turn % 2 === 0 });
      written++;
    } catch (error) {
      if (!(error instanceof WriteRefused) || error.code !== 'CONFLICT') throw error;
      conflicts++;
    }
  }
  saver.stdin.end();
  const [code] = await exited;
  expect(code).toBe(0);
  expect(reads).toBeGreaterThan(10);
  expect(written).toBeGreaterThan(0);
  expect(conflicts).toBeGreaterThan(0);
  expect(Object.keys(parsed(path)).filter((key) => key !== 'saves')).toEqual(keys);
  expect(await updateSession(folder, 'x', { title: 'After' })).toMatchObject({ changed: true, row: { title: 'After' } });
  expect(readdirSync(folder)).toEqual([join('x.json')]);
});
