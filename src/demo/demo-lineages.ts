/** Sessions that descend from others: a compressed chain, a branch, a reset, and work that was delegated (`spec/state-db.md` 6). */
import { standaloneSummary, summaryAfter, summaryWithAsk } from './handoff.ts';
import { ownerJson } from './owner-json.ts';
import { peerNamed, stampedId } from './performed-scripts.ts';
import { type Columns, SessionDraft } from './session-draft.ts';

const HOUR = 3600;

/** What the demo holds: sessions, and rows of other tables that speak about them. */
export interface DemoContent {
  readonly sessions: readonly SessionDraft[];
  readonly rows: readonly { readonly table: string; readonly columns: Columns }[];
}

/** Everything of this file, with times before `now` (epoch seconds). */
export function lineages(now: number): DemoContent {
  const chain = compressedChain(now);
  const first = chain[1];
  const branch = first === undefined ? [] : [branchOf(first, now)];
  const delegations = [finishedDelegation(now), runningDelegation(now)];
  return {
    sessions: [...chain, ...branch, ...resetPair(now), ...delegations.flatMap((content) => content.sessions)],
    rows: delegations.flatMap((content) => content.rows),
  };
}

function cliSession(key: string, startedAt: number, columns: Columns): SessionDraft {
  return new SessionDraft(stampedId(startedAt, key), 'cli', startedAt, {
    model: 'anthropic/claude-opus-4',
    cwd: '/home/ada/src/lantern',
    ...columns,
  });
}

/** One conversation in four segments; each segment begins with the handoff in another of its shapes, and only the tip has the title. */
function compressedChain(now: number): SessionDraft[] {
  const start = now - 31 * HOUR;
  const config = ownerJson({ max_tokens: 8192, temperature: 0.3 });
  const work: Columns = { git_branch: 'feat/loans', git_repo_root: '/home/ada/src/lantern', model_config: config };
  const one = cliSession('loans-1', start, work);
  one.user('Members should be able to lend books to each other. How would you model a loan?');
  one.calls([
    {
      tool: 'read_file',
      args: { path: 'src/schema.sql' },
      result: 'CREATE TABLE books (id, title, owner);\nCREATE TABLE members (id, name);',
    },
  ]);
  one.answer(
    'A table loans with book, borrower, lent_at and returned_at. A book is out while a row has no returned_at; a partial unique index makes a second loan impossible.',
  );
  one.user('Good. Write the migration and the queries.');
  one.calls([{ tool: 'write_file', args: { path: 'migrations/014_loans.sql' }, result: 'wrote 12 lines' }]);
  one.answer('The migration is in migrations/014_loans.sql, the four queries in src/loans.ts.');

  const two = continuation(one, 'loans-2', work);
  two.row(
    'user',
    standaloneSummary('Goal: lending of books between members.\nDone: migration 014_loans.sql, queries in src/loans.ts.\nNext: the page.'),
    { display_kind: 'hidden' },
  );
  two.copy(one.rows.slice(-1));
  two.user('Now the page where I see who has my books.');
  two.calls([
    { tool: 'write_file', args: { path: 'src/pages/lent.tsx' }, result: 'wrote 58 lines' },
    { tool: 'terminal', args: { command: 'npm test' }, result: 'Tests  226 passed (226)\nexit 0' },
  ]);
  two.answer('The page /lent lists your books that are out, with the borrower and since when. Overdue ones come first.');

  const three = continuation(two, 'loans-3', work);
  three.row(
    'user',
    summaryWithAsk(
      'Goal: lending of books.\nDone: migration, queries, page /lent.\nOpen: reminders.',
      'Send a reminder after four weeks, please.',
    ),
  );
  three.calls([{ tool: 'search_files', args: { pattern: 'sendMail' }, result: 'src/mail.ts:8:export async function sendMail(' }]);
  three.answer('Reminders go out once a day for loans older than 28 days, and at most once a week for the same loan.');

  const four = continuation(three, 'loans-4', { ...work, title: 'Lending books between members', title_source: 'llm' });
  four.row(
    'user',
    summaryAfter(
      'Can two members wait for the same book?',
      'Goal: lending of books.\nDone: migration, page, reminders.\nOpen: a waiting list.',
    ),
  );
  four.calls([{ tool: 'write_file', args: { path: 'migrations/015_waiting.sql' }, result: 'wrote 9 lines' }]);
  four.answer(
    'Yes: there is a waiting list now, first come, first served. When a book comes back, the next in line gets a message and three days to answer.',
  );
  four.user('Perfect. Show me the SQL for the next in line.');
  four.answer('```sql\nSELECT member FROM waiting WHERE book = ? ORDER BY asked_at LIMIT 1;\n```');
  const segments = [one, two, three, four];
  for (const segment of segments.slice(0, -1)) segment.auxiliary('compression', 'openai/gpt-5-mini', 5200, 240);
  for (const segment of segments) segment.settle();
  return segments;
}

/** Ends `parent` by compression and begins the session that goes on; it takes its time from the parent. */
function continuation(parent: SessionDraft, key: string, columns: Columns): SessionDraft {
  parent.wait(2 * HOUR, 4 * HOUR);
  parent.end('compression', 5);
  return cliSession(key, parent.clock, { parent_session_id: parent.id, ...columns });
}

/** A branch copies the rows of the session that it leaves, and goes another way. */
function branchOf(parent: SessionDraft, now: number): SessionDraft {
  const branch = cliSession('loans-branch', now - 6 * HOUR, {
    parent_session_id: parent.id,
    model_config: ownerJson({ max_tokens: 8192, temperature: 0.3, _branched_from: parent.id }),
    title: 'Lending books between members #2',
    title_source: 'branch',
    git_branch: 'spike/loans-as-events',
    git_repo_root: '/home/ada/src/lantern',
  });
  branch.copy(parent.rows.slice(2));
  branch.user('Let us try it differently: keep every change of a loan as an event.');
  branch.answer(
    'Then a loan is the sum of its events: lent, extended, returned. You gain the history and lose the partial unique index; the rule "only once at a time" has to be checked when an event is written.',
  );
  branch.settle();
  return branch;
}

/** `/new` in a chat: the old session ends by a reset, the new one has the same routing key. */
function resetPair(now: number): SessionDraft[] {
  const peer = peerNamed('ada');
  const started = now - 33 * HOUR;
  const before = new SessionDraft(stampedId(started, 'packing'), 'telegram', started, {
    model: 'nous/hermes-4-405b',
    title: 'Packing list',
    title_source: 'derived',
    ...peer,
  });
  before.user('packing list for rain and mountains, 4 days', { platform_message_id: '40211' });
  before.answer(
    'Rain jacket, rain trousers, wool layers, two pairs of socks a day, a dry bag for the camera, and shoes that are already broken in.',
  );
  before.user('/new', { platform_message_id: '40212' });
  before.end('session_reset', 1);
  before.settle('actual');
  const after = new SessionDraft(stampedId(before.clock, 'after-packing'), 'telegram', before.clock + 2, {
    model: 'nous/hermes-4-405b',
    parent_session_id: before.id,
    model_config: ownerJson({ _reset_from: before.id }),
    ...peer,
  });
  after.user('how do you say "is this seat free" in norwegian?', { platform_message_id: '40213' });
  after.answer('"Er denne plassen ledig?"');
  after.settle('actual');
  return [before, after];
}

/** Two sub-agents that came back: their results were delivered into the parent as a note. */
function finishedDelegation(now: number): DemoContent {
  const started = now - 22 * HOUR;
  const goals = ['Compare the two map libraries by size and licence', 'Find out how both draw tiles offline'];
  const parent = cliSession('maps', started, {
    title: 'Which map library for the walk planner',
    title_source: 'user',
    cwd: '/home/ada/src/walks',
  });
  parent.user('Compare maplibre and leaflet for the walk planner. Take your time and use helpers.');
  const id = 'deleg_5c1e88a0';
  parent.calls([
    {
      tool: 'delegate_task',
      args: { goals, background: true },
      result: ownerJson({ delegation_id: id, status: 'running', task_count: 2 }),
    },
  ]);
  parent.answer('Two helpers are at work. I report when they are back.');
  const dispatchedAt = parent.clock;
  const findings = [
    'maplibre: 800 kB, BSD-3; leaflet: 147 kB, BSD-2.',
    'maplibre reads PMTiles with a plugin; leaflet needs a tile server or a service worker.',
  ];
  const children = goals.map((goal, index) => subAgent(parent, `maps-${index}`, goal, findings[index] ?? ''));
  parent.clock = Math.max(...children.map((child) => child.clock)) + 2;
  const summary = findings.join('\n');
  parent.row('user', `Background work finished:\n${summary}`, {
    display_kind: 'async_delegation_complete',
    display_metadata: ownerJson({ delegation_id: id, task_count: 2 }),
  });
  parent.answer(
    'Take maplibre: it is larger, but walks need maps without a network, and it can do that with one file. Leaflet is the better choice where every kilobyte counts.',
  );
  parent.settle();
  const row = delegationRow(id, parent, dispatchedAt, ownerJson({ goals, toolsets: ['web'], is_batch: true, model: 'openai/gpt-5-mini' }));
  const completed = parent.clock - 8;
  return {
    sessions: [parent, ...children],
    rows: [
      {
        table: 'async_delegations',
        columns: {
          ...row,
          state: 'completed',
          completed_at: completed,
          updated_at: completed,
          event_json: ownerJson({
            type: 'async_delegation',
            delegation_id: id,
            parent_session_id: parent.id,
            goals,
            status: 'completed',
            summary,
          }),
          result_json: ownerJson({ status: 'completed', summary }),
          delivery_state: 'delivered',
          delivery_attempts: 1,
          delivered_at: completed + 2,
        },
      },
    ],
  };
}

/** A sub-agent that was sent off a moment ago and still works. */
function runningDelegation(now: number): DemoContent {
  const goal = 'Check the Dutch translation of orchard for words that were left in English';
  const parent = cliSession('translation', now - 260, {
    title: 'Dutch translation of orchard',
    title_source: 'llm',
    cwd: '/home/ada/src/orchard',
  });
  parent.user('Have the Dutch translation checked in the background.');
  const id = 'deleg_0f7a21d4';
  parent.calls([{ tool: 'delegate_task', args: { goal, background: true }, result: ownerJson({ delegation_id: id, status: 'running' }) }]);
  parent.answer('A helper is on it.');
  const child = subAgent(parent, 'translation-0', goal, null);
  parent.settle();
  const row = delegationRow(id, parent, parent.clock, ownerJson({ goal, toolsets: ['file'], model: 'openai/gpt-5-mini' }));
  return { sessions: [parent, child], rows: [{ table: 'async_delegations', columns: { ...row, state: 'running' } }] };
}

/** A delegated run: its first row is the goal. Without a finding it is still open, waiting for a tool. */
function subAgent(parent: SessionDraft, key: string, goal: string, finding: string | null): SessionDraft {
  const child = new SessionDraft(stampedId(parent.clock, key), 'subagent', parent.clock + 1, {
    model: 'openai/gpt-5-mini',
    parent_session_id: parent.id,
    model_config: ownerJson({ _delegate_from: parent.id, max_iterations: 20 }),
    cwd: parent.columns.cwd ?? null,
  });
  child.wait(1);
  child.row('user', goal);
  child.calls([{ tool: 'search_files', args: { pattern: 'label|title' }, result: '31 matches in 9 files' }]);
  if (finding === null) child.calls([{ tool: 'read_file', args: { path: 'locales/nl.json' }, result: '' }], '', {}, false);
  else {
    child.answer(finding);
    child.end('agent_close', 1);
  }
  child.settle();
  return child;
}

function delegationRow(id: string, parent: SessionDraft, at: number, task: string): Columns {
  return {
    delegation_id: id,
    origin_session: `cli:${parent.id}`,
    parent_session_id: parent.id,
    dispatched_at: at,
    updated_at: at,
    delivery_state: 'pending',
    owner_pid: 4242,
    owner_started_at: 991_204,
    task_json: task,
  };
}
