/**
 * What a session goes on in after a compression (`spec/webui-recovery.md` 19): the focused continuation of one whose context could not be
 * compressed any further, and the segment that a snapshot goes on in. Pure, over what all files say without their messages.
 */
import { isSameProfile } from './projects/projects-file.ts';
import { isContinuation, isFocused } from './recovery/repair-guards.ts';
import { epochSeconds, type Fields, nonNegativeInteger, trimmedWord, word } from './sidecar/coercions.ts';
import type { SidecarCompressionRecovery, SidecarRow } from './sidecar/sidecar-row.ts';

export const FOCUSED_CONTINUATION = 'start_focused_continuation';
const EXHAUSTED = 'compression_exhausted';
const MOST_HOPS = 20;
/** Characters of the details. */
const LONGEST_DETAILS = 1200;

/** What the Web UI tells the user of an exhausted context. */
export interface CompressionRecovery {
  readonly recommendedAction: string;
  readonly sourceSessionId: string | null;
  /** Epoch seconds. */
  readonly createdAt: number | null;
  readonly title: string | null;
  readonly summary: string | null;
  readonly actionLabel: string | null;
  readonly message: string | null;
  readonly details: string | null;
  /** Tokens; 0: unknown. */
  readonly lastPromptTokens: number;
  readonly thresholdTokens: number;
  readonly contextLength: number;
}

/** Whether the payload is one of an exhausted compression, as stamped and not cleared (19.1). */
export function isExhausted({ payload, recommendedAction }: Pick<SidecarCompressionRecovery, 'payload' | 'recommendedAction'>): boolean {
  return payload.terminal_state === EXHAUSTED && (word(payload.recommended_action) ?? recommendedAction) === FOCUSED_CONTINUATION;
}

/** Null for a session whose context is not exhausted. */
export function compressionRecoveryOf({ compressionRecovery }: Pick<SidecarRow, 'compressionRecovery'>): CompressionRecovery | null {
  if (!isExhausted(compressionRecovery)) return null;
  const { payload } = compressionRecovery;
  return {
    recommendedAction: FOCUSED_CONTINUATION,
    sourceSessionId: trimmedWord(payload.source_session_id),
    createdAt: epochSeconds(payload.created_at),
    title: word(payload.title),
    summary: word(payload.summary),
    actionLabel: word(payload.action_label),
    message: word(payload.message),
    details: word(payload.details)?.slice(0, LONGEST_DETAILS) ?? null,
    lastPromptTokens: tokens(payload, 'last_prompt_tokens'),
    thresholdTokens: tokens(payload, 'threshold_tokens'),
    contextLength: tokens(payload, 'context_length'),
  };
}

function tokens(payload: Fields, key: string): number {
  return nonNegativeInteger(payload[key]) ?? 0;
}

type Segment = Pick<
  SidecarRow,
  'id' | 'profile' | 'parentSessionId' | 'sessionSource' | 'isCompressionSnapshot' | 'compressionRecovery' | 'createdAt' | 'updatedAt'
>;

/** The files of one moment by what they come from. */
export class CompressionFamilies {
  readonly #rows: ReadonlyMap<string, Segment>;
  readonly #children: Map<string, Segment[]>;
  readonly #answers: Map<string, Segment[]>;

  constructor(rows: ReadonlyMap<string, Segment>) {
    this.#rows = rows;
    const all = [...rows.values()];
    this.#children = Map.groupBy(all, ({ parentSessionId }) => parentSessionId ?? '');
    this.#answers = Map.groupBy(all, ({ compressionRecovery }) => compressionRecovery.sourceSessionId ?? '');
  }

  /**
   * The oldest session that answers the action of an exhausted one, so that who asks twice gets the same (19.2). `profile`: that of the
   * source, which has to match; undefined: any.
   */
  recoveryChild(sourceId: string, action: string, profile?: string | null): string | null {
    const [source, wanted] = [trimmedWord(sourceId), trimmedWord(action)];
    if (source === null || wanted === null) return null;
    const found = (this.#answers.get(source) ?? []).filter(
      (row) => row.compressionRecovery.action === wanted && (profile === undefined || isSameProfile(row.profile, profile)),
    );
    return found.sort((a, b) => before(a, b))[0]?.id ?? null;
  }

  /** The same for the action that there is, in the profile of the source's file. */
  focusedContinuation(sourceId: string): string | null {
    return this.recoveryChild(sourceId, FOCUSED_CONTINUATION, this.#rows.get(sourceId)?.profile ?? null);
  }

  /** The newest session that a snapshot goes on in, over further snapshots; null for what is no snapshot (19.4). */
  continuation(snapshotId: string): string | null {
    const start = this.#rows.get(snapshotId);
    if (start?.isCompressionSnapshot !== true) return null;
    const seen = new Set([start.id]);
    const candidates: Segment[] = [];
    let level = [start];
    for (let hops = 0; hops < MOST_HOPS && level.length > 0; hops += 1) {
      const children = level.flatMap((parent) => this.#continuing(parent, start.profile)).filter(({ id }) => !seen.has(id));
      for (const { id } of children) seen.add(id);
      candidates.push(...children.filter((child) => !child.isCompressionSnapshot));
      level = children.filter((child) => child.isCompressionSnapshot);
    }
    return candidates.sort(newestFirst)[0]?.id ?? null;
  }

  #continuing(parent: Segment, profile: string | null): Segment[] {
    return (this.#children.get(parent.id) ?? []).filter(
      (child) =>
        child.id !== parent.id &&
        isSameProfile(child.profile, profile) &&
        isContinuation({ isFocused: isFocused(child), sessionSource: child.sessionSource }, parent),
    );
  }
}

function before(a: Segment, b: Segment): number {
  return (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.updatedAt ?? 0) - (b.updatedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

function newestFirst(a: Segment, b: Segment): number {
  return time(b) - time(a) || (a.id < b.id ? 1 : -1);
}

function time({ updatedAt, createdAt }: Segment): number {
  return updatedAt ?? createdAt ?? 0;
}

const FAMILIES = new WeakMap<ReadonlyMap<string, Segment>, CompressionFamilies>();

/** Worked out once for each moment of the folder, whose rows are then the same object. */
export function compressionFamilies(rows: ReadonlyMap<string, Segment>): CompressionFamilies {
  const known = FAMILIES.get(rows) ?? new CompressionFamilies(rows);
  FAMILIES.set(rows, known);
  return known;
}
