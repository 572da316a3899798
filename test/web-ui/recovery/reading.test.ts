/** What is read of files beside recoveries: `spec/webui-recovery.md` 26, T77 to T79. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSidecar } from '../../../src/web-ui/sidecar/read-sidecar.ts';
import { SidecarCatalogue } from '../../../src/web-ui/sidecar/sidecar-catalogue.ts';
import { persistCollapsedPartials } from '../../../src/web-ui/sidecar/update-session.ts';
import { saveSidecar } from '../../support/sidecars.ts';
import { assistant, parsed, put, putSession, session, sessionsFolder, user } from '../sidecar-folder.ts';

describe('a session file', () => {
  it('T77: shows adjacent partial answers that are alike once; only the mutation takes them out, and keeps the old file', async () => {
    const folder = sessionsFolder();
    const partial = (timestamp: number) => assistant('part', timestamp, { _partial: true });
    const messages = [user('q', 1), partial(2), partial(3), assistant('z', 4), partial(5)];
    const path = putSession(folder, 's1', { messages });
    const before = readFileSync(path, 'utf8');
    const read = await readSidecar(folder, 's1');
    expect(read?.messages).toEqual([messages[0], messages[1], messages[3], messages[4]]);
    expect([readFileSync(path, 'utf8'), existsSync(`${path}.bak`)]).toEqual([before, false]);
    await persistCollapsedPartials(folder, 's1');
    expect(parsed(path)).toMatchObject({ messages: read?.messages, message_count: 4, updated_at: 2 });
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before);
  });

  it('T78: is read anew whatever its owner changed', async () => {
    const folder = sessionsFolder();
    const files = new SidecarCatalogue({ sessionsDir: folder });
    const saves = [
      { messages: [user('a', 1)] },
      { messages: [user('a', 1), assistant('b', 2)] },
      { messages: [user('a', 1), assistant('edited', 2)], title: 'Other' },
      { messages: [user('a', 1)] },
      { messages: [user('a', 1)], anchor_activity_scenes: { k: { updated_at: 5 } } },
    ];
    const seen: unknown[] = [];
    for (const fields of saves) {
      putSession(folder, 's1', fields);
      saveSidecar(folder, 's1', readFileSync(join(folder, 's1.json'), 'utf8'));
      const row = (await files.snapshot()).rows.get('s1');
      const whole = await readSidecar(folder, 's1');
      seen.push([row?.title, row?.storedMessageCount, row?.sceneIndex, whole?.messages]);
    }
    expect(seen).toEqual(
      saves.map(({ messages, title = 'T', anchor_activity_scenes: scenes }) => [
        title,
        messages.length,
        scenes === undefined ? {} : { k: 5 },
        messages,
      ]),
    );
  });

  it('T79: of the older layout has its count, and is not read again for it', async () => {
    const folder = sessionsFolder();
    const { messages, ...fields } = session('s1', { messages: [user('a', 1), assistant('b', 2)] });
    put(folder, 's1.json', { ...fields, anchor_activity_scenes: {}, message_count: 2, messages });
    const files = new SidecarCatalogue({ sessionsDir: folder });
    const first = (await files.snapshot()).rows.get('s1');
    expect(first).toMatchObject({ layout: 'LEGACY', storedMessageCount: 2 });
    expect((await files.snapshot()).rows.get('s1')).toBe(first);
  });
});
