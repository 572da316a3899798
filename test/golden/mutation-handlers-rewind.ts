/**
 * Upstream's rewinds, restores and rewrites of transcripts in terms of ours, and how they differ on purpose.
 */
import { isJsonObject } from '../../src/state-db/decode.ts';
import { activeIds } from '../../src/state-db/write/active-ids.ts';
import type { TranscriptMessage } from '../../src/state-db/write/message-encoding.ts';
import { restoreRewind } from '../../src/state-db/write/restore-rewind.ts';
import { type RewoundRows, rewindToMessage } from '../../src/state-db/write/rewind-to-message.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { operationCommand } from '../../src/writing/command.ts';
import type { TestHost } from '../support/command-host.ts';
import { type Answers, type MutationBench, type MutationHandler, quietly } from './mutation-runner.ts';

const ONCE = { dryRun: false, clientMutationId: null };
const rewindTo = operationCommand('rewindToMessage', rewindToMessage);
const restore = operationCommand('restoreRewind', restoreRewind);
/** What a receipt would tell of the last rewind of a case. */
const lastRewind = new WeakMap<TestHost, RewoundRows>();

export const REWIND_HANDLERS: Readonly<Record<string, MutationHandler<TestHost>>> = {
  rewind_to_message: async (host, { args: [sessionId, targetId] }) => {
    const [target] = host.rows('SELECT * FROM messages WHERE id = ?', BigInt(Number(targetId)));
    const done = await rewindTo(host, { sessionId: String(sessionId), targetId: String(targetId) }, ONCE);
    lastRewind.set(host, done);
    const head = done.newHeadId === null ? null : Number(done.newHeadId);
    return { rewound_count: done.rewoundCount, target_message: asUpstream(target ?? {}), new_head_id: head };
  },
  restore_rewound: async (host, { args: [sessionId, rowId] }) => {
    const rewound = lastRewind.get(host);
    const isOfRewind = rewound?.sessionId === sessionId && rewound?.retiredIds.includes(String(rowId));
    if (rewound === undefined || !isOfRewind) throw new WriteRefused('RECEIPT_UNKNOWN');
    return (await restore(host, { ...rewound, leaseToken: null }, ONCE)).restoredCount;
  },
  'SessionStore.rewind_session': (host, { args: [sessionId, turns] }) =>
    quietly(
      async () => {
        const done = await host.run('rewindSession', { sessionId: String(sessionId), turns: Number(turns) });
        return { rewound_count: done.rewoundCount, turns_undone: done.turnsUndone, target_text: done.targetText };
      },
      { NOTHING_TO_REWIND: null },
    ),
  replace_messages: async (host, { args: [sessionId, messages], kwargs }) => {
    await replace(host, String(sessionId), messages, kwargs);
    return null;
  },
  'SessionStore.rewrite_transcript': async (host, { args: [sessionId, messages], kwargs }) => {
    await replace(host, String(sessionId), messages, kwargs);
    return true;
  },
};

async function replace(host: TestHost, sessionId: string, messages: unknown, kwargs: Readonly<Record<string, unknown>>): Promise<void> {
  const expectedActiveIds = await host.writer.read((store) => activeIds(store, sessionId));
  await host.run('rewriteTranscript', {
    sessionId,
    mode: kwargs.archive_dropped === true ? 'ARCHIVE_DROPPED' : kwargs.active_only === true ? 'ACTIVE_ONLY' : 'DESTRUCTIVE',
    messages: Array.isArray(messages) ? messages.filter((message): message is TranscriptMessage => isJsonObject(message)) : [],
    expectedActiveIds,
    force: true,
    rejectOthers: false,
  });
}

/** A row as upstream hands it out: structured content decoded. */
function asUpstream(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { content } = row;
  const prefix = '\u0000json:';
  const isStructured = typeof content === 'string' && content.startsWith(prefix);
  return isStructured ? { ...row, content: JSON.parse(content.slice(prefix.length)) } : row;
}

/** The counters that upstream leaves as they were (10.1 step 7); a counter that is the same anyway is left out. */
const RECOUNTED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'rewind to the third user turn': { message_count: 11, tool_call_count: 4 },
  'rewind twice, second is a no-op on rows': { message_count: 11, tool_call_count: 4 },
  'rewind to first': { message_count: 0, tool_call_count: 0 },
  'rewind a multimodal target': { message_count: 0 },
  'gateway rewind n=1': { message_count: 46 },
  'gateway rewind n=2': { message_count: 44 },
  'gateway rewind n=99': { message_count: 0, tool_call_count: 0 },
  'gateway rewind n=0': { message_count: 46 },
  'gateway rewind n=-3': { message_count: 46 },
  'gateway rewind: bookkeeping rows are not turns': { message_count: 0 },
  'gateway rewind: odd rows': { message_count: 0, tool_call_count: 0 },
  'gateway rewind on a compacted session': { message_count: 1 },
  'rewind to an archived row': { message_count: 0 },
};

/** Rules by the name of the case, in the order in which they are tried. */
export const rewindRules: NonNullable<MutationBench<TestHost>['rules']> = ({ name }) => {
  const counters = RECOUNTED[name];
  const recount = { id: 'rewind-recounts', adjust: (expected: unknown) => withCounters(expected as Answers, counters ?? {}) };
  if (name === 'restore rewound') return [{ id: 'restore-by-receipt', adjust: restoredWhole }];
  if (name === 'gateway rewind: odd rows') return [{ id: 'rewind-newest-turns', adjust: byNewestTurns }, recount];
  if (name === 'rewind with odd flags') return [{ id: 'flag-values', adjust: anyNumberIsSet }];
  return counters === undefined ? [] : [recount];
};

function withCounters(answers: Answers, counters: Readonly<Record<string, number>>): Answers {
  const sessions = answers.after.sessions.map((session) =>
    'changed' in session ? { ...session, changed: { ...session.changed, ...counters } } : session,
  );
  return { ...answers, after: { ...answers.after, sessions } };
}

/** The receipt names all 19 rows, where upstream takes those from an id on; a row id that no rewind hid is no receipt. */
function restoredWhole(expected: unknown): Answers {
  const { steps, after } = expected as Answers;
  const [rewound] = steps;
  const ours = [...(rewound === undefined ? [] : [rewound]), { error: null, result: 19 }, { error: 'RECEIPT_UNKNOWN', result: null }];
  return { steps: ours, after: { ...after, messages: { ...after.messages, changed: [] } } };
}

/** Blanks, a bare summary and the prompt of a review are no turns, and two messages in a row are one. */
function byNewestTurns(expected: unknown): Answers {
  const { after } = expected as Answers;
  const result = (count: number, turns: number, text: unknown) => ({
    error: null,
    result: { rewound_count: count, turns_undone: turns, target_text: text },
  });
  const changed = Array.from({ length: 15 }, (_, index) => ({ id: 103 + index, active: 0 }));
  const steps = [result(8, 1, 'first of two\n\nsecond of two'), result(7, 2, SKILL_CALL)];
  return { steps, after: { ...after, messages: { ...after.messages, changed } } };
}

/** All of the row by which a skill was called. */
const SKILL_CALL = { $sha256: '011660e07b8bc086de86ec33978ded7cf7482374f2fea84fad06c0f5a4a82292', $len: 2204 };

/** A row with an `active` of 2 is live in every list, so it is also what an undo takes back. */
function anyNumberIsSet(expected: unknown): Answers {
  const { after } = expected as Answers;
  const text = 'm_flags_odd Certificate with canary the rollback for artifact with budget after canary.';
  return {
    steps: [{ error: null, result: { rewound_count: 1, turns_undone: 1, target_text: text } }],
    after: {
      ...after,
      sessions: [{ id: 'm_flags_odd', changed: { message_count: 0, rewind_count: 1 } }],
      messages: { ...after.messages, changed: [{ id: 59, active: 0, compacted: 0 }] },
    },
  };
}
