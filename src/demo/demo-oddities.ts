/** Single sessions that show one thing each: a rewind, a compaction in place, a failure, cells that can't be read. */

import { STRUCTURED_PREFIX } from '../state-db/content.ts';
import type { DemoContent } from './demo-lineages.ts';
import { standaloneSummary } from './handoff.ts';
import { ownerJson } from './owner-json.ts';
import { stampedId } from './performed-scripts.ts';
import { type Columns, SessionDraft } from './session-draft.ts';

const HOUR = 3600;
const LEASE_SECONDS = 300;

/** Everything of this file, with times before `now` (epoch seconds). */
export function oddities(now: number): DemoContent {
  const compacted = compactedInPlace(now);
  const crashed = crashedTurn(now);
  return {
    sessions: [compacted, crashed, rewound(now), failed(now), empty(now), identity(now), vocabulary(now), damaged(now)],
    rows: [
      lease(crashed.id, 'pid=2210:turn=6c0d:platform=cli', crashed.clock - 30),
      {
        table: 'compression_locks',
        columns: { session_id: compacted.id, holder: 'pid=4242:tid=7:agent=a91f:nonce=5be20c11', ...term(now - 12) },
      },
    ],
  };
}

/** A turn lease: somebody runs a turn in this conversation, or did until a moment ago (`spec/live-turns.md` 6.2). */
export function lease(conversationId: string, holder: string, acquiredAt: number): { table: string; columns: Columns } {
  return { table: 'session_turn_leases', columns: { conversation_id: conversationId, holder, ...term(acquiredAt) } };
}

function term(acquiredAt: number): Columns {
  return { acquired_at: acquiredAt, expires_at: acquiredAt + LEASE_SECONDS };
}

function webSession(id: string, startedAt: number, title: string | null, columns: Columns = {}): SessionDraft {
  return new SessionDraft(id, 'webui', startedAt, {
    model: 'openai/gpt-5',
    title,
    title_source: title === null ? null : 'user',
    ...columns,
  });
}

/** The older rows were summarised away, the last exchange was carried over as copies; a second compaction is running. */
function compactedInPlace(now: number): SessionDraft {
  const draft = webSession('7d1c40a2be95', now - 2.5 * HOUR, 'Garden plan for next year', { title_source: 'llm' });
  draft.user('I have four beds of 1.2 by 3 metres. Plan the crop rotation.');
  draft.answer('Four families, one bed each, moving on by one every year: legumes, brassicas, roots, and tomatoes with their relatives.');
  draft.user('The north bed gets only four hours of sun.');
  draft.calls([{ tool: 'web_search', args: { query: 'vegetables for partial shade' }, result: 'chard, lettuce, peas, rocket, beetroot' }]);
  draft.answer('Then keep the north bed out of the rotation: chard, lettuce and rocket are content with four hours.');
  draft.user('And the slugs?');
  draft.answer(
    'Copper tape around the north bed, water in the morning instead of the evening, and a few boards under which you collect them.',
  );
  const history = [...draft.rows];
  const tail = history.slice(-2);
  draft.wait(40, 70);
  for (const row of history) Object.assign(row.columns, { active: 0, compacted: 1 });
  draft.row('user', standaloneSummary('Four beds, the north bed in shade: chard, lettuce, rocket. The others rotate.'), {
    display_kind: 'hidden',
  });
  draft.copy(tail);
  draft.user('Make a sowing calendar from it.');
  draft.answer(
    "March: peas, broad beans. April: chard, carrots, beetroot. May: tomatoes under cover, courgettes. August: lamb's lettuce, winter purslane.",
  );
  draft.auxiliary('compression', 'openai/gpt-5-mini', 2900, 130);
  draft.settle();
  Object.assign(draft.columns, {
    last_activity_at: now - 11,
    last_activity_description: 'compressing context',
    last_activity_provenance: 'agent.compression',
  });
  return draft;
}

/** The process died in the middle of a turn: the lease has run out, the last call has no answer. */
function crashedTurn(now: number): SessionDraft {
  const started = now - 17 * HOUR;
  const draft = new SessionDraft(stampedId(started, 'crashed'), 'cli', started, {
    model: 'nous/hermes-4-405b',
    cwd: '/home/ada/src/tidepool',
  });
  draft.user('Read the log of the buoy and tell me when it lost the network.');
  draft.calls([{ tool: 'terminal', args: { command: 'ssh buoy journalctl -u uplink' }, result: '' }], '', {}, false);
  draft.settle();
  return draft;
}

/** The second question was taken back and asked anew. */
function rewound(now: number): SessionDraft {
  const draft = webSession('c2f09e6b7a13', now - 12.5 * HOUR, 'A name for the boat');
  draft.user('We need a name for a small wooden sailing boat.');
  draft.answer('Sandpiper, Half Past Tide, Juniper, Little Auk, Windfall.');
  draft.user('Something funnier');
  draft.answer('Sea-section, Unsinkable II, Pier Pressure.');
  for (const row of draft.rows.slice(-2)) Object.assign(row.columns, { active: 0, compacted: 0 });
  draft.user('Something shorter, one syllable.');
  draft.answer('Tern, Drift, Skiff, Wren, Lark.');
  draft.columns.rewind_count = 1;
  draft.settle('actual');
  return draft;
}

/** The provider refused, and compression is on hold for a while. */
function failed(now: number): SessionDraft {
  const started = now - 4.4 * HOUR;
  const draft = new SessionDraft(stampedId(started, 'failed'), 'cli', started, {
    model: 'anthropic/claude-sonnet-4.5',
    title: 'Translate the user manual',
    title_source: 'derived',
    cwd: '/home/ada/src/orchard',
    compression_failure_cooldown_until: now + 600,
    compression_failure_error: 'provider refused: rate limit',
    compression_fallback_streak: 2,
  });
  draft.user('Translate docs/manual.md to Norwegian.');
  draft.calls([{ tool: 'read_file', args: { path: 'docs/manual.md' }, result: '# Orchard\n\nHow to count apples ...' }]);
  draft.answer('The provider refused the request (rate limit). Try again in a few minutes.', { finish_reason: 'error' });
  draft.settle('unknown');
  return draft;
}

function empty(now: number): SessionDraft {
  return webSession('00e1a4d2c6f8', now - 8 * HOUR, null);
}

/** The hidden row behind the agent's own chat (`spec/state-db.md` 7.6). */
function identity(now: number): SessionDraft {
  const draft = webSession('b07c4a7b07c4', now - 300 * HOUR, 'Bot Chat', { hidden: 1 });
  draft.user('Who are you?');
  draft.answer('I am Hermes, and I keep this house running.');
  draft.settle();
  return draft;
}

const WORDS = [
  'fjord fjord',
  'fjell mountain',
  'regn rain',
  'båt boat',
  'hav sea',
  'skog forest',
  'vei road',
  'bro bridge',
  'hus house',
  'lys light',
  'vind wind',
  'snø snow',
  'øy island',
  'foss waterfall',
  'sti path',
  'hytte cabin',
  'brygge wharf',
  'torsk cod',
  'bok book',
  'stjerne star',
  'måne moon',
  'sol sun',
  'elv river',
  'dal valley',
  'bre glacier',
  'strand beach',
  'steinbit wolffish',
  'ull wool',
  'brød bread',
  'kaffe coffee',
  'venn friend',
  'reise journey',
  'kart map',
  'klokke clock',
  'høst autumn',
  'vår spring',
  'natt night',
  'morgen morning',
  'hjem home',
  'takk thanks',
];

/** A long conversation, for paging. */
function vocabulary(now: number): SessionDraft {
  const draft = webSession('5a9d3b81f04c', now - 60 * HOUR, 'Forty words of Norwegian', { last_read_at: 0 });
  for (const [index, pair] of WORDS.entries()) {
    const [norwegian, english] = pair.split(' ');
    draft.user(index === 0 ? 'Teach me forty words before the journey, one at a time.' : 'Next!');
    draft.answer(`Word ${index + 1} of ${WORDS.length}: ${norwegian}, that is "${english}".`);
  }
  draft.settle('actual');
  return draft;
}

/** Cells as a broken import leaves them: each of them shows a warning, none of them may break an answer. */
function damaged(now: number): SessionDraft {
  const draft = webSession('bad0ce115e55', now - 40 * HOUR, 'Notes from a broken import');
  draft.user('Import the notes of the old phone.');
  draft.row('assistant', 'Imported, with some losses.', { tool_calls: '[{"id": "call_cut", "type": "functi' });
  draft.row('user', 'A note without a usable time', { timestamp: 'last tuesday' });
  draft.row('assistant', 'A time far outside of the calendar', { timestamp: 5e246 });
  draft.row('user', `${STRUCTURED_PREFIX}[{"type": "text", "text": "cut o`);
  draft.row('assistant', Buffer.from([0x63, 0x61, 0x66, 0xe9]), { display_metadata: '["not", "an", "object"]' });
  draft.settle();
  Object.assign(draft.columns, { input_tokens: -5, last_activity_at: 5e246, origin_json: '{oops', tool_call_count: 0 });
  return draft;
}

/** The entry with which the gateway finds the session of a chat; `turn` is set while it runs one there. */
export function routingEntry(draft: SessionDraft, turn: { token: string; startedAt: number } | null): { table: string; columns: Columns } {
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 23);
  const { columns } = draft;
  const entry = {
    session_key: columns.session_key,
    session_id: draft.id,
    created_at: at(Number(columns.started_at)),
    updated_at: at(draft.clock),
    display_name: columns.display_name,
    platform: columns.source,
    chat_type: columns.chat_type,
    metadata: {},
    input_tokens: columns.input_tokens ?? 0,
    output_tokens: columns.output_tokens ?? 0,
    estimated_cost_usd: columns.estimated_cost_usd ?? 0,
    expiry_finalized: false,
    suspended: false,
    ...(turn === null ? {} : { active_turn_token: turn.token, active_turn_started_at: at(turn.startedAt) }),
  };
  return {
    table: 'gateway_routing',
    columns: { session_key: columns.session_key ?? '', entry_json: ownerJson(entry), updated_at: draft.clock },
  };
}
