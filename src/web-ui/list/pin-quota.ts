/** How many conversations may be pinned (`spec/webui-listing.md` 13.5). */

export interface PinQuota {
  readonly allowed: boolean;
  /** Conversations pinned now. */
  readonly used: number;
  readonly limit: number;
}

/** Whether a session of the conversation may be pinned; pinning again within a pinned one is free. `pinned`: the conversations of pinned sessions. */
export function pinQuota(conversation: string, pinned: Iterable<string>, limit: number): PinQuota {
  const used = new Set(pinned);
  return { allowed: used.has(conversation) || used.size < limit, used: used.size, limit };
}
