/**
 * Another process saves session files in a loop, with atomic renames as the Web UI does, while this server lists, reads and edits them: no
 * reading is torn, no member is lost, and an edit stands in the file or was overwritten by a later save, never a mix.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Fields, sidecarPath } from '../support/sidecars.ts';
import { countOf, startSaver, textOf } from '../support/web-ui-saver.ts';
import { mutate, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const IDS = ['a', 'b', 'c'];
const RACE_MS = 6000;
const PROJECTS = [{ project_id: 'p1', name: 'Mine', profile: 'default' }];

/** What edits write; everything else is the other program's. */
const OURS = ['personality', 'project_id', 'composer_draft'];

/** The file as of one moment; throws for one that is no whole save, with or without an edit on top of it. */
function checkedFile(server: WebUiServer, id: string): { round: number; ours: Fields } {
  const found = JSON.parse(readFileSync(sidecarPath(server.sessionsDir, id), 'utf8')) as Fields;
  const round = Number((found.nobody_knows as { round: number }).round);
  const ours = Object.fromEntries(OURS.flatMap((key) => (key in found ? [[key, found[key]]] : [])));
  const theirs = Object.fromEntries(Object.entries(found).filter(([key]) => !OURS.includes(key) && key !== 'updated_at'));
  const { updated_at: _, ...saved } = JSON.parse(textOf(id, round)) as Fields;
  expect(theirs).toEqual(saved);
  return { round, ours };
}

interface Seen {
  readonly sessionId: string;
  readonly sidecar: { readonly title: string; readonly messageCount: number; readonly health: string; readonly unknownKeys: string[] };
}

function checkSeen({ sidecar }: Seen): void {
  expect(['OK', 'UNKNOWN']).toContain(sidecar.health);
  const round = Number(/^Round (\d+)$/.exec(sidecar.title)?.[1]);
  expect(sidecar.messageCount, sidecar.title).toBe(countOf(round));
  expect(sidecar.unknownKeys).toContain('nobody_knows');
}

const LIST = `{ sessions(filter: { origins: [WEB_UI], includeEmpty: true, includeUnlisted: true }) { nodes {
  sessionId sidecar { title messageCount health unknownKeys } } } }`;

it('reads and edits beside a program that saves all the time', async () => {
  const files = Object.fromEntries(IDS.map((id) => [id, textOf(id, 0)]));
  const server = await startWebUi({ files, projects: PROJECTS });
  const saver = await startSaver(server.sessionsDir, IDS);
  const until = performance.now() + RACE_MS;
  const isOver = () => performance.now() > until;
  const tally = { lists: 0, reads: 0, stood: 0, overwritten: 0, conflicts: 0 };

  const list = async () => {
    for (; !isOver(); tally.lists += 1) {
      const { sessions } = await server.read<{ sessions: { nodes: Seen[] } }, object>(LIST);
      expect(sessions.nodes.map(({ sessionId }) => sessionId).sort()).toEqual(IDS);
      for (const session of sessions.nodes) checkSeen(session);
    }
  };
  const readFiles = async () => {
    for (; !isOver(); tally.reads += 1) {
      for (const id of IDS) checkedFile(server, id);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const edit = async (id: string, isGuarded: boolean) => {
    for (let number = 0; !isOver(); number += 1) {
      const before = checkedFile(server, id);
      const personality = `${id}-${number}`;
      const guard = isGuarded ? { ifSignature: await signatureOf(server, id) } : {};
      const input = {
        sessionId: id,
        personality,
        projectId: number % 2 === 0 ? 'p1' : null,
        composerDraft: { text: personality },
        ...guard,
      };
      const answer = await mutate(server, 'updateSession', input, 'changed mayBeOverwritten');
      const after = checkedFile(server, id);
      if (answer.code === 'CONFLICT') {
        expect(answer.settled).toBe(true);
        tally.conflicts += 1;
        continue;
      }
      expect(answer).toMatchObject({ changed: true, mayBeOverwritten: true });
      if (after.ours.personality === personality) {
        expect(after.ours).toMatchObject({ composer_draft: { text: personality } });
        expect(after.ours.project_id ?? null).toBe(number % 2 === 0 ? 'p1' : null);
        tally.stood += 1;
      } else {
        // Not there any more, so a later save is: none of the edit is left in it.
        expect(after.ours).toEqual({});
        expect(after.round).toBeGreaterThan(before.round);
        tally.overwritten += 1;
      }
    }
  };
  await Promise.all([list(), readFiles(), edit('a', false), edit('b', false), edit('c', true)]);
  await saver.stop();

  expect(saver.rounds()).toBeGreaterThan(50);
  expect(tally.lists).toBeGreaterThan(10);
  expect(tally.stood + tally.overwritten).toBeGreaterThan(10);
  // Now that nobody else saves, an edit stands.
  for (const id of IDS) {
    const { round } = checkedFile(server, id);
    expect(await mutate(server, 'updateSession', { sessionId: id, personality: 'last' }, 'changed')).toMatchObject({ changed: true });
    expect(checkedFile(server, id)).toMatchObject({ round, ours: { personality: 'last' } });
  }
  expect(readdirSync(join(server.sessionsDir)).filter((name) => name.includes('.tmp.'))).toEqual([]);
});

async function signatureOf(server: WebUiServer, id: string): Promise<string> {
  const { session } = await server.read<{ session: { sidecar: { signature: string } } }, object>(
    `{ session(sessionId: "${id}") { sidecar { signature } } }`,
  );
  return session.sidecar.signature;
}
