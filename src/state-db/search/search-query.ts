/** What can be asked of a search (`spec/state-db.md` 10.4). */
export type SearchOrder = 'RANK' | 'NEWEST' | 'OLDEST';

export interface SearchQuery {
  readonly text: string;
  readonly order: SearchOrder;
  readonly limit: number;
  readonly after: string | null;
  readonly sessionIds: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly excludeSources: readonly string[] | null;
  readonly roles: readonly string[] | null;
  readonly includeInactive: boolean;
  readonly includeReasoning: boolean;
  /** Epoch seconds, inclusive. */
  readonly since: number | null;
  /** Epoch seconds, exclusive. */
  readonly before: number | null;
}
