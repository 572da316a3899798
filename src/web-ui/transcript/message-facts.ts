/**
 * What the Web UI keeps beside a message of a file (`spec/webui-transcript.md` 11, `spec/webui-recovery.md` 24): figures of its turn, where
 * it came from after a crash. Everything in it is untrusted and may be as large as its writer likes: what is given is bounded.
 */
import { boundJson, cutText } from '../../live/journal/bounded-json.ts';
import type { LiveUsage } from '../../live/journal/events.ts';
import { finalUsage } from '../../live/journal/fold-usage.ts';
import { type Interruption, interruptionOf } from '../interruption.ts';
import { finiteNumber, isEmpty, isMessage, type Message } from './values.ts';

export interface MessageTurn {
  readonly durationMs: number | null;
  readonly tokensPerSecond: number | null;
  readonly firstTokenMs: number | null;
  readonly usedModel: string | null;
  readonly usage: LiveUsage | null;
  /** As stored, cut. */
  readonly routing: unknown;
  readonly statusCard: unknown;
  /** The run that the work log of the turn is of. */
  readonly streamId: string | null;
}

export interface MediaSnapshot {
  readonly path: string;
  readonly digest: string;
}

export interface MessageFacts {
  readonly turn: MessageTurn | null;
  readonly mediaSnapshots: readonly MediaSnapshot[];
  /** Put back after a crash. */
  readonly recovered: boolean;
  /** The run whose journal it was rebuilt from. */
  readonly recoveredFromRun: string | null;
  readonly recoveredEventId: string | null;
  readonly partial: boolean;
  readonly isError: boolean;
  /** Who submitted it, where that is not a person in the browser. */
  readonly source: string | null;
  readonly interruption: Interruption | null;
}

export const NO_FACTS: MessageFacts = {
  turn: null,
  mediaSnapshots: [],
  recovered: false,
  recoveredFromRun: null,
  recoveredEventId: null,
  partial: false,
  isError: false,
  source: null,
  interruption: null,
};

const LONGEST_WORD = 1024;
const MOST_SNAPSHOTS = 256;

/** Null where there is nothing to tell, as of most messages. */
export function messageFacts(message: unknown): MessageFacts | null {
  if (!isMessage(message)) return null;
  const fromJournal = !isEmpty(message._recovered_from_run_journal);
  const facts: MessageFacts = {
    turn: turnOf(message),
    mediaSnapshots: snapshotsOf(message._media_snapshots),
    recovered: fromJournal || !isEmpty(message._recovered),
    recoveredFromRun: fromJournal ? shortText(message._recovered_stream_id) : null,
    recoveredEventId: shortText(message._recovered_event_id),
    partial: !isEmpty(message._partial),
    isError: !isEmpty(message._error),
    source: shortText(message._source),
    interruption: interruptionOf(message),
  };
  return Object.values(facts).every(isEmpty) ? null : facts;
}

function turnOf(message: Message): MessageTurn | null {
  const seconds = finiteNumber(message._turnDuration);
  const turn: MessageTurn = {
    durationMs: seconds === null ? null : Math.round(seconds * 1000),
    tokensPerSecond: finiteNumber(message._turnTps),
    firstTokenMs: finiteNumber(message._firstTokenMs),
    usedModel: shortText(message._usedModel),
    usage: isMessage(message._turnUsage) ? finalUsage(message._turnUsage) : null,
    routing: boundedOf(message._gatewayRouting),
    statusCard: boundedOf(message._statusCard),
    streamId: shortText(message._anchor_stream_id),
  };
  return Object.values(turn).every((value) => value === null) ? null : turn;
}

function snapshotsOf(value: unknown): MediaSnapshot[] {
  if (!isMessage(value)) return [];
  const paths = Object.entries(value).slice(0, MOST_SNAPSHOTS);
  return paths.flatMap(([path, digest]) =>
    typeof digest === 'string' && path.length <= LONGEST_WORD ? [{ path, digest: cutText(digest, LONGEST_WORD) }] : [],
  );
}

function shortText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cutText(value, LONGEST_WORD) : null;
}

function boundedOf(value: unknown): unknown {
  return isEmpty(value) ? null : boundJson(value);
}
