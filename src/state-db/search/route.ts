/**
 * Which index can answer a query completely (`spec/state-db.md` 10.5).
 */
import type { IndexState } from './index-state.ts';
import { cjkLength, cjkRuns, hasCjk, plainTokens, quoteTokens } from './sanitize.ts';

export type SearchRoute = 'FTS' | 'CJK' | 'TRIGRAM' | 'LIKE' | 'EMPTY';

export interface RoutedQuery {
  readonly route: SearchRoute;
  /** For an index, its MATCH expression; for LIKE, the sanitised text. */
  readonly expression: string;
  /** ANY: tokens joined by OR, operators ignored (CJK). BOOLEAN: the form of 10.6. */
  readonly likeForm: 'ANY' | 'BOOLEAN';
  readonly degraded: boolean;
}

export interface RouteFilter {
  readonly sources: readonly string[] | null;
  readonly roles: readonly string[] | null;
  readonly includeReasoning: boolean;
}

/** First match wins, in the order of the table. */
export function routeQuery(sanitized: string, state: IndexState, filter: RouteFilter): RoutedQuery {
  if (sanitized === '') return { route: 'EMPTY', expression: '', likeForm: 'BOOLEAN', degraded: false };
  const like = (likeForm: RoutedQuery['likeForm'], degraded: boolean): RoutedQuery => ({
    route: 'LIKE',
    expression: sanitized,
    likeForm,
    degraded,
  });
  const cjk = hasCjk(sanitized);
  const form = cjk ? 'ANY' : 'BOOLEAN';
  if (filter.includeReasoning || filter.roles?.includes('tool')) return like('BOOLEAN', false);
  if (state.unusable !== null) return like(form, true);
  if (!cjk) return { route: 'FTS', expression: sanitized, likeForm: 'BOOLEAN', degraded: false };
  const quoted = quoteTokens(sanitized);
  // The CJK and trigram indexes leave these sources out.
  const sourcesIndexed = !(filter.sources ?? []).some((source) => source === 'cron' || source === 'subagent');
  const singles = cjkRuns(sanitized).some((run) => [...run].length === 1);
  if (state.cjk && !singles && sourcesIndexed) return { route: 'CJK', expression: quoted, likeForm: form, degraded: false };
  const longEnough = cjkLength(sanitized) >= 3 && plainTokens(sanitized).every((token) => !hasCjk(token) || cjkLength(token) >= 3);
  if (state.trigram && longEnough && sourcesIndexed) return { route: 'TRIGRAM', expression: quoted, likeForm: form, degraded: false };
  return like('ANY', state.trigramDamaged && longEnough && sourcesIndexed);
}

/** Where a Latin query without hits is tried again as a substring; null when no index can do that. */
export function substringRetry(
  sanitized: string,
  state: IndexState,
  filter: RouteFilter,
): { route: 'CJK' | 'TRIGRAM'; expression: string } | null {
  if (hasCjk(sanitized) || filter.roles?.includes('tool')) return null;
  const expression = quoteTokens(sanitized);
  if (expression === '') return null;
  if (state.cjk) return { route: 'CJK', expression };
  const longEnough = plainTokens(sanitized).every((token) => [...token].length >= 3);
  return state.trigram && longEnough ? { route: 'TRIGRAM', expression } : null;
}
