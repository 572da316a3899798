/** A whole turn of the demo's writer, commit by commit, as a follower tells it. */
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { playTurn, type TurnOptions } from '../../../src/demo/live-turn.ts';
import { SeededRandom } from '../../../src/demo/random.ts';
import { parseScripts } from '../../../src/demo/script.ts';
import { M, S } from '../../support/stores.ts';
import { type Following, follow, NOW } from './following.ts';

const [SCRIPT] = parseScripts(`
## tea | cli | openai/gpt-5 | 0 | Tea
> How long does green tea take?
~ Two minutes.
: I look it up.
! web_search {"query": "green tea"}
| 2 minutes at 75 °C
& memory {"action": "list"}
| nothing
! terminal {"command": "date"}
| now
< Two minutes at 75 °C.
`);
const STORE = {
  rows: [S('a', { model: 'openai/gpt-5', title: 'Kitchen', title_source: 'user', message_count: 1 }), M('a', { content: 'hello' })],
};

let db: Database.Database | null = null;
afterEach(() => db?.close());

/** What each commit of the turn brings, under the commit's name. */
async function tell(test: Following, options: Partial<TurnOptions>): Promise<string[]> {
  if (SCRIPT === undefined) throw new Error('no script');
  db = new Database(test.path);
  const told: string[] = [];
  const now = () => {
    test.now += 1;
    return test.now;
  };
  for (const step of playTurn(db, { script: SCRIPT, now, pid: 77, random: new SeededRandom(7), ...options })) {
    const events = await test.pass(0);
    told.push(`[${step.name}]`, ...events.map((text) => text.replaceAll(/\d{8}_\d{6}_[0-9a-f]{6}/g, 'NEW')));
  }
  return told;
}

describe('a turn of the demo', () => {
  it('is told from the lease to its release', async () => {
    const test = await follow(STORE, 'a');
    expect(await tell(test, { sessionId: 'a' })).toEqual([
      '[lease]',
      'TurnStarted cli null',
      '[user]',
      'MessagesAppended 2',
      '[heartbeat]',
      'ActivityHeartbeat starting API call #1',
      '[calls]',
      'MessagesAppended 3',
      'ToolStarted web_search 3',
      'ToolStarted memory 3',
      '[usage]',
      'UsageChanged 1580 44 running',
      '[tool]',
      'MessagesAppended 4',
      'ToolFinished web_search 4 null',
      '[tool]',
      'MessagesAppended 5',
      'ToolFinished memory 5 null',
      '[calls]',
      'MessagesAppended 6',
      'ToolStarted terminal 6',
      '[usage]',
      'UsageChanged 3340 64 running',
      '[tool]',
      'MessagesAppended 7',
      'ToolFinished terminal 7 null',
      '[answer]',
      'MessagesAppended 8',
      '[usage]',
      'UsageChanged 5280 70 running',
      '[labels]',
      'ActivityHeartbeat ',
      '[release]',
      'TurnEnded COMPLETED HIGH LEASE_GONE 2..8',
    ]);
    expect(test.told.every(({ sessionId, depth, at }) => sessionId === 'a' && depth === 0 && at > NOW)).toBe(true);
  });

  it('goes on in the child when the conversation is rotated in its middle', async () => {
    const test = await follow(STORE, 'a');
    const told = await tell(test, { sessionId: 'a', rotate: true });
    expect(told.slice(told.indexOf('[lock]'))).toEqual([
      '[lock]',
      'CompressionStarted',
      'ActivityHeartbeat compressing context',
      '[rotation]',
      'SessionContinued a>NEW handoff 6 carried 2>7,3>8,4>9,5>10',
      '[unlock]',
      '[title]',
      'TitleChanged Kitchen',
      '[heartbeat]',
      'ActivityHeartbeat starting API call #2',
      '[calls]',
      'MessagesAppended 11',
      'ToolStarted terminal 11',
      '[usage]',
      'UsageChanged 1760 20 running',
      '[tool]',
      'MessagesAppended 12',
      'ToolFinished terminal 12 null',
      '[answer]',
      'MessagesAppended 13',
      '[usage]',
      'UsageChanged 3700 26 running',
      '[labels]',
      'ActivityHeartbeat ',
      '[release]',
      'TurnEnded COMPLETED HIGH LEASE_GONE 2..13',
    ]);
    expect(told.filter((text) => text.startsWith('TurnStarted'))).toEqual(['TurnStarted cli null']);
  });

  it('of a new session is told from its first row to the labels that are cleared', async () => {
    const test = await follow(STORE, 'a');
    const random = new SeededRandom(7);
    db = new Database(test.path);
    if (SCRIPT === undefined) throw new Error('no script');
    // The id of the session is known after the first commit only.
    const turn = playTurn(db, { script: SCRIPT, now: () => (test.now += 1), pid: 77, random, end: 'cli_close' });
    const first = turn.next();
    const id = first.done === true ? '' : first.value.sessionId;
    const position = { segmentId: null, maxRowId: '1', digest: '', turnId: null, at: NOW, views: ['', '', ''] as const };
    const resumed = await test.resume(id, position);
    const told = resumed.kind === 'CONTINUED' ? resumed.events.map(({ kind }) => kind) : [];
    expect(told).toEqual(['TurnStarted', 'MessagesAppended']);
    const rest: string[] = [];
    for (const step of turn) rest.push(`[${step.name}]`, ...(await test.pass(0)));
    expect(rest.slice(rest.indexOf('[answer]'))).toEqual([
      '[answer]',
      'MessagesAppended 8',
      '[usage]',
      'UsageChanged 5280 70 running',
      '[labels]',
      'TurnEnded COMPLETED MEDIUM FINAL_ROW 2..8',
      'ActivityHeartbeat ',
      '[title]',
      'TitleChanged Tea',
      '[usage]',
      '[end]',
      'SessionChanged ENDED',
    ]);
  });
});
