/** The folder of a session that is gone, replaced over HTTP by the one that stands in for it (`spec/webui-listing.md` 17.2, 17.3). */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saveSidecar, sidecarText } from '../support/sidecars.ts';
import { M, S, temporaryFolder } from '../support/stores.ts';
import { fileText, MESSAGES, mutate, startWebUi, type WebUiServer } from '../support/web-ui-server.ts';

const FIELDS = 'changed workspace signature session { workspaceBinding { stored state recovered } sidecar { signature } }';

function folders(): { saved: string; other: string; gone: string } {
  const root = temporaryFolder();
  const [saved, other] = [join(root, 'saved'), join(root, 'other')];
  mkdirSync(saved);
  mkdirSync(other);
  return { saved, other, gone: join(root, 'gone') };
}

/** A server over one session, with a trusted folder that the profile used last. */
async function start(text: string, saved: string, allowWrites = true): Promise<WebUiServer> {
  const server = await startWebUi({ rows: [S('row'), M('row')], files: { a: text }, allowWrites });
  writeFileSync(join(server.webUiDir, 'workspaces.json'), JSON.stringify([saved]));
  writeFileSync(join(server.webUiDir, 'last_workspace.txt'), saved);
  return server;
}

describe('recoverWorkspace', () => {
  it('69: writes the folder that stands in, and leaves every other byte: unknown members, wrong counts and messages too', async () => {
    const { saved, gone } = folders();
    const text = sidecarText('a', { workspace: gone, message_count: 7, foo: { b: 2.0 } }, MESSAGES, { zzz: 'ü' });
    const server = await start(text, saved);
    const answer = await mutate(server, 'recoverWorkspace', { sessionId: 'a', expected: gone }, FIELDS);
    expect(answer).toMatchObject({
      changed: true,
      workspace: saved,
      session: { workspaceBinding: { stored: saved, state: 'OK', recovered: false }, sidecar: { signature: answer.signature } },
    });
    expect(fileText(server, 'a')).toBe(text.replace(JSON.stringify(gone), JSON.stringify(saved)));
    expect(readdirSync(server.sessionsDir).filter((name) => name.includes('.tmp.'))).toEqual([]);
  });

  it('70: is refused when the file has another folder than was expected, and nothing is written', async () => {
    const { saved, other, gone } = folders();
    const server = await start(sidecarText('a', { workspace: gone }, MESSAGES), saved);
    saveSidecar(server.sessionsDir, 'a', sidecarText('a', { workspace: `${gone}/since` }, MESSAGES));
    const before = fileText(server, 'a');
    for (const expected of [gone, other, '']) {
      const refused = await mutate(server, 'recoverWorkspace', { sessionId: 'a', expected });
      expect(refused, expected).toMatchObject({ __typename: 'ConflictError', settled: true });
    }
    expect(fileText(server, 'a')).toBe(before);
  });

  it('17.3: writes nothing where the file has the other folder already, or its own can be used', async () => {
    const { saved, gone } = folders();
    const text = sidecarText('a', { workspace: saved }, MESSAGES);
    const server = await start(text, saved);
    for (const expected of [gone, saved]) {
      const answer = await mutate(server, 'recoverWorkspace', { sessionId: 'a', expected }, FIELDS);
      expect(answer, expected).toMatchObject({ changed: false, workspace: saved });
    }
    expect(fileText(server, 'a')).toBe(text);
  });

  it('17.2: lets nothing stand in for a folder that is not gone, or by a last folder that is not trusted', async () => {
    const { saved, other, gone } = folders();
    const untrusted = sidecarText('a', { workspace: other }, MESSAGES);
    const server = await start(untrusted, saved);
    const refusal = { __typename: 'ValidationError', code: 'VALIDATION', settled: true };
    const asked = (expected: string) => mutate(server, 'recoverWorkspace', { sessionId: 'a', expected });
    expect(await asked(other)).toMatchObject({ ...refusal, details: { state: 'UNTRUSTED' } });
    expect(fileText(server, 'a')).toBe(untrusted);

    const missing = sidecarText('a', { workspace: gone }, MESSAGES);
    saveSidecar(server.sessionsDir, 'a', missing);
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), other);
    expect(await asked(gone)).toMatchObject({ ...refusal, details: { state: 'MISSING' } });
    writeFileSync(join(server.webUiDir, 'last_workspace.txt'), saved);
    writeFileSync(join(dirname(server.webUiDir), 'config.yaml'), 'terminal:\n  backend: ssh\n');
    expect(await asked(gone)).toMatchObject({ ...refusal, details: { state: 'REMOTE' } });
    expect(fileText(server, 'a')).toBe(missing);
  });

  it('17.3: makes no file for a session without one, and leaves a damaged one', async () => {
    const { saved, gone } = folders();
    const server = await start('{"session_id": "a", "workspace": "/gone", "messages": {"a": 1}}', saved);
    const asked = (sessionId: string) => mutate(server, 'recoverWorkspace', { sessionId, expected: gone });
    expect(await asked('a')).toMatchObject({ code: 'SIDECAR_CORRUPT' });
    expect(await asked('row')).toMatchObject({ code: 'SIDECAR_MISSING' });
    expect(await asked('nowhere')).toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(server.sessionsDir).filter((name) => !name.startsWith('_'))).toEqual(['a.json']);
  });

  it('writes nothing on a dry run, which works where nothing may be written', async () => {
    const { saved, gone } = folders();
    const text = sidecarText('a', { workspace: gone }, MESSAGES);
    const server = await start(text, saved, false);
    const input = { sessionId: 'a', expected: gone };
    expect(await mutate(server, 'recoverWorkspace', { ...input, dryRun: true }, FIELDS)).toMatchObject({
      changed: true,
      workspace: saved,
      session: { workspaceBinding: { stored: gone, state: 'MISSING', recovered: true } },
    });
    expect(await mutate(server, 'recoverWorkspace', input)).toMatchObject({ __typename: 'WritesOffError' });
    expect(fileText(server, 'a')).toBe(text);
  });

  it('is done once for an id, and a repeat gets the first answer', async () => {
    const { saved, gone } = folders();
    const server = await start(sidecarText('a', { workspace: gone }, MESSAGES), saved);
    const input = { sessionId: 'a', expected: gone, clientMutationId: 'once' };
    const first = await mutate(server, 'recoverWorkspace', input, 'changed workspace signature');
    saveSidecar(server.sessionsDir, 'a', sidecarText('a', { workspace: `${gone}/since` }, MESSAGES));
    const before = fileText(server, 'a');
    expect(await mutate(server, 'recoverWorkspace', input, 'changed workspace signature')).toEqual(first);
    expect(first).toMatchObject({ changed: true, workspace: saved });
    expect(fileText(server, 'a')).toBe(before);
  });
});
