/**
 * What the sidecars of a conversation's sessions say, and what changed since they were looked at (`spec/live-turns.md` 5).
 */
import type { SidecarHead, SidecarTail } from '../../web-ui/sidecar-head.ts';
import type { ConversationSources } from './sources.ts';

interface Known {
  readonly head: SidecarHead | null;
  /** There was a file once. */
  readonly seen: boolean;
  /** Read when a turn was cleared, for what the owner appended. */
  readonly tail: SidecarTail | null;
}

export interface SidecarChange {
  readonly sessionId: string;
  readonly before: SidecarHead | null;
  readonly after: SidecarHead | null;
  readonly tail: SidecarTail | null;
}

export class Sidecars {
  readonly #sources: Pick<ConversationSources, 'head' | 'tail' | 'onError'>;
  readonly #known = new Map<string, Known>();
  readonly #foreign = new Set<string>();

  constructor(sources: Pick<ConversationSources, 'head' | 'tail' | 'onError'>) {
    this.#sources = sources;
  }

  /** Reads them again; what is another than before, in the order of the ids. One that can't be read now says what it said before. */
  async look(sessionIds: readonly string[]): Promise<SidecarChange[]> {
    const changes = await Promise.all(sessionIds.map((id) => this.#lookAt(id).catch((error: unknown) => this.#sources.onError(error))));
    return changes.filter((change) => change != null);
  }

  async #lookAt(sessionId: string): Promise<SidecarChange | null> {
    const found = await this.#sources.head(sessionId);
    if (found === 'FOREIGN') {
      this.#foreign.add(sessionId);
      return null;
    }
    const after = found;
    const before = this.#known.get(sessionId);
    if (before !== undefined && before.head?.version === after?.version) return null;
    const tail = after === null ? null : await this.#readTail(sessionId, before?.head ?? null, after);
    this.#foreign.delete(sessionId);
    this.#known.set(sessionId, { head: after, seen: after !== null || (before?.seen ?? false), tail: tail ?? before?.tail ?? null });
    return before === undefined && after === null ? null : { sessionId, before: before?.head ?? null, after, tail };
  }

  /** Its sidecar is of another profile: so are its journals. */
  isForeign(sessionId: string): boolean {
    return this.#foreign.has(sessionId);
  }

  /** GONE: there was one. NEVER_SEEN: this server saw none. */
  of(sessionId: string): SidecarHead | 'GONE' | 'NEVER_SEEN' {
    const known = this.#known.get(sessionId);
    return known?.head ?? (known?.seen === true ? 'GONE' : 'NEVER_SEEN');
  }

  tailOf(sessionId: string): SidecarTail | null {
    return this.#known.get(sessionId)?.tail ?? null;
  }

  /** Whether any of them names the run as its owner's. */
  owns(runId: string): boolean {
    return [...this.#known.values()].some(({ head }) => head?.activeStreamId === runId);
  }

  /** Runs that own a session now, with that session. */
  get owners(): readonly { readonly sessionId: string; readonly head: SidecarHead; readonly runId: string }[] {
    return [...this.#known].flatMap(([sessionId, { head }]) => {
      const runId = head?.activeStreamId ?? null;
      return head === null || runId === null ? [] : [{ sessionId, head, runId }];
    });
  }

  /** The end of the file is looked at when a turn was cleared, or messages came without one: there may be a marker. */
  async #readTail(sessionId: string, before: SidecarHead | null, after: SidecarHead): Promise<SidecarTail | null> {
    if (after.activeStreamId !== null) return null;
    const moved = before === null || before.activeStreamId !== null || before.messageCount !== after.messageCount;
    return moved ? this.#sources.tail(sessionId) : null;
  }
}
