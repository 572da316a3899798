/** What the Web UI's own undo, retry and truncation make of session files, against ours. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { IntegralFloat } from '../../src/state-db/write/python-json-value.ts';
import type { RecoverySources } from '../../src/web-ui/recovery/recover-session.ts';
import { undoSession } from '../../src/web-ui/recovery/recover-session.ts';
import { SessionDraft } from '../../src/web-ui/recovery/session-draft.ts';
import { cutAt } from '../../src/web-ui/recovery/undo-turns.ts';
import { readSidecar } from '../../src/web-ui/sidecar/read-sidecar.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { type GoldenCase, loadGolden } from '../support/golden.ts';
import { goldenKind, type Handler, type Verdict, verdict } from './compare.ts';
import { openWebUiHome } from './session-files.ts';

type Fields = Readonly<Record<string, unknown>>;
interface Place {
  readonly now: number;
  close(): void;
}

const KEPT = [
  'updated_at',
  'truncation_watermark',
  'truncation_boundary',
  'intentional_shrink_generation',
  'message_count',
  'context_messages',
];
const PREVIEW = 40;
const GENERATION = '0123456789ab4def8123456789abcdef';
/** What an undo needs of its surroundings. */
const sourcesOf = (sessionsDir: string, now: number) => ({ sessionsDir, now: () => now }) as unknown as RecoverySources;

async function onCopy(golden: GoldenCase, work: (sessionsDir: string) => Promise<Verdict>): Promise<Verdict> {
  const home = openWebUiHome('webui-home');
  try {
    return await work(home.sessionsDir);
  } catch (error) {
    if (error instanceof WriteRefused && error.code === 'SIDECAR_MISSING' && golden.error?.type === 'KeyError') return { deviations: [] };
    throw error;
  } finally {
    home.close();
  }
}

function undoing(told: (text: string, removed: number) => Fields): Handler<Place> {
  return ({ now }, golden) =>
    onCopy(golden, async (sessionsDir) => {
      const id = String(golden.args.session_id);
      const result = await undoSession(sourcesOf(sessionsDir, now), id, { turns: 1, generation: GENERATION, dryRun: false });
      if (golden.error !== undefined) {
        const isSame = golden.error.type === 'ValueError' && result.outcome === 'NOTHING_TO_UNDO' && !result.applied;
        return isSame ? { deviations: [] } : { difference: `upstream raised ${golden.error.type}, we: ${result.outcome}` };
      }
      const file = await readSidecar(sessionsDir, id);
      const fields: Fields = { ...file?.fields, context_messages: file?.contextMessages };
      const after = Object.fromEntries(KEPT.map((key) => [key, fields[key]]));
      const returned = told(String(result.undone?.content), result.countBefore - result.countAfter);
      return verdict({ returned, after, bak: existsSync(join(sessionsDir, `${id}.json.bak`)) }, golden.result);
    });
}

const HANDLERS: Readonly<Record<string, Handler<Place>>> = {
  undo_last: undoing((text, removed) => ({
    removed_count: removed,
    removed_preview: text.length > PREVIEW ? `${text.slice(0, PREVIEW)}...` : text,
  })),
  retry_last: undoing((text, removed) => ({ last_user_text: text, removed_count: removed })),
  truncate_session_at_keep: (_, golden) =>
    onCopy(golden, async (sessionsDir) => {
      const fields = (await readSidecar(sessionsDir, String(golden.args.sid)))?.fields ?? {};
      const draft = new SessionDraft(fields);
      const returned = [draft.messages.length, draft.context.length];
      const set = cutAt(draft, Number(golden.args.keep), GENERATION);
      const number = (value: unknown) => (value instanceof IntegralFloat ? value.value : value);
      return verdict(
        {
          returned,
          message_count: draft.messages.length,
          watermark: number(set.truncation_watermark),
          boundary: number(set.truncation_boundary),
          context_messages: draft.context.map(({ value }) => value),
          generation: set.intentional_shrink_generation ?? null,
        },
        golden.result,
      );
    }),
};

goldenKind<Place>(
  'recovery_ops',
  ['webui-home'],
  async (_store, now) => ({ now, close: () => {} }),
  HANDLERS,
  ({ function: name }) => (name ?? '') in HANDLERS,
  'undo-',
);

it('no function of this golden file is left out', () => {
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.golden.test.ts'))
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .join('\n');
  const names = new Set(loadGolden('webui-home', 'recovery_ops').cases.map((golden) => golden.function ?? ''));
  expect([...names].filter((name) => !tests.includes(name))).toEqual([]);
});
