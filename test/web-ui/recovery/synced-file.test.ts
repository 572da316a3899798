/** A file that lags behind the store: `spec/webui-recovery.md` 26, T71 to T76; field case F29. */
import { describe, expect, it } from 'vitest';
import { assistant, user } from '../sidecar-folder.ts';
import { answer, type Fields, OLD, RUN, STARTED, T0, TurnHome } from './turn-home.ts';

const ASKED = user('Hello', STARTED);
const FINISHED = [...OLD, ASKED, assistant('Finished answer', T0 - 3500)];
const CLEARED = { active_stream_id: null, pending_user_message: null, pending_attachments: [], pending_started_at: null };

function beside(rows: readonly Fields[], fields: Fields = {}): TurnHome {
  const home = new TurnHome({ messages: OLD, ...fields });
  home.state = { rows };
  return home;
}

async function expectUnchanged(home: TurnHome, outcome: string): Promise<void> {
  const before = home.bytes;
  expect(await home.sync()).toMatchObject({ outcome, applied: false });
  expect(home.bytes).toBe(before);
}

describe('a file goes on from the store', () => {
  it('T71', async () => {
    const home = beside(FINISHED);
    expect(await home.sync()).toMatchObject({ outcome: 'SYNCED', countBefore: 2, countAfter: 4, marker: null });
    expect(home.messages).toEqual(FINISHED);
    expect(home.context).toEqual(FINISHED);
    expect(home.file).toMatchObject({ ...CLEARED, updated_at: T0, message_count: 4 });
    await expectUnchanged(home, 'NO_UNFINISHED_TURN');
  });

  it('T72: a session without a run has no grace', async () => {
    const home = beside(FINISHED, { active_stream_id: null, pending_started_at: T0 - 10 });
    expect(await home.sync()).toMatchObject({ outcome: 'SYNCED' });
  });

  it('T75: the prompt alone came to the store, the answer is in the journal', async () => {
    const home = beside([...OLD, ASKED]).journal({ event: 'token', payload: { text: 'half an answer' } });
    expect(await home.sync()).toMatchObject({ outcome: 'SYNCED', recovered: [answer('half an answer', T0 - 3500)] });
    expect(home.messages).toEqual([...OLD, ASKED, answer('half an answer', T0 - 3500), expect.objectContaining({ type: 'interrupted' })]);
    expect(home.file).toMatchObject(CLEARED);
  });

  it('a prompt that nobody keeps: the row of the store is the turn', async () => {
    const home = beside([...OLD, ASKED], { pending_user_message: null }).journal({ event: 'token', payload: { text: 'half' } });
    expect(await home.sync()).toMatchObject({ outcome: 'SYNCED' });
    expect(home.messages.slice(2)).toMatchObject([ASKED, { content: 'half', _recovered_stream_id: RUN }, { type: 'interrupted' }]);
  });
});

describe('a file is left alone', () => {
  it.each<[string, string, readonly Fields[], Fields]>([
    ['T72', 'WITHIN_GRACE', FINISHED, { pending_started_at: T0 - 10 }],
    ['T73', 'NOT_AHEAD', OLD, {}],
    ['T74', 'NO_UNFINISHED_TURN', FINISHED, { active_stream_id: null, pending_user_message: null }],
    ['T76', 'NOT_AHEAD', [...OLD, { ...ASKED, timestamp: STARTED + 5 }], { messages: [...OLD, ASKED] }],
    ['Y5', 'NO_ROWS', [], {}],
  ])('%s: %s', async (_, outcome, rows, fields) => {
    await expectUnchanged(beside(rows, fields), outcome);
  });

  it('Y3: while its stream is open', async () => {
    const home = beside(FINISHED);
    home.isLive = true;
    await expectUnchanged(home, 'STREAM_LIVE');
  });

  it('Y9: where all rows are hidden', async () => {
    const home = beside([]);
    home.state = { rows: [], hidden: 9 };
    await expectUnchanged(home, 'NO_ROWS');
  });

  it('T91: a dry run tells the same and writes nothing', async () => {
    const home = beside(FINISHED);
    const before = home.bytes;
    const dry = await home.sync({ dryRun: true });
    expect(home.bytes).toBe(before);
    expect({ ...(await home.sync()), applied: dry.applied }).toEqual(dry);
  });
});
