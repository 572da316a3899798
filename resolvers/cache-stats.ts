/**
 * What this server keeps of files that it has read (`spec/webui-recovery.md` 17, `spec/webui-listing.md` C28).
 */
import { type CacheStats, sumOf } from '../src/recently-used.ts';
import type { Context } from './context.ts';

export type CacheName =
  | 'SIDECAR_LIST'
  | 'SIDECARS'
  | 'SIDECAR_HEADS'
  | 'TRANSCRIPTS'
  | 'RUN_SUMMARIES'
  | 'TURN_JOURNALS'
  | 'CLAUDE_CODE_LIST'
  | 'CLAUDE_CODE_TRANSCRIPTS';

export interface NamedCache extends CacheStats {
  readonly name: CacheName;
}

export function cacheStats(_: unknown, __: unknown, { services }: Context): NamedCache[] {
  const { webUi, liveTurns, webUiHome, openSessions, runs } = services;
  const sidecars = webUiHome.sidecars.caches;
  const claude = webUiHome.claude.caches;
  // Lists and followed conversations keep these apart.
  const both = [webUi.caches, liveTurns.caches];
  return [
    { name: 'SIDECAR_LIST', ...sidecars.rows },
    { name: 'SIDECARS', ...sidecars.wholeRows },
    { name: 'SIDECAR_HEADS', ...sumOf(both.map(({ heads }) => heads)) },
    { name: 'TRANSCRIPTS', ...openSessions.cache },
    { name: 'RUN_SUMMARIES', ...runs.cache },
    { name: 'TURN_JOURNALS', ...sumOf(both.map(({ turns }) => turns)) },
    { name: 'CLAUDE_CODE_LIST', ...claude.rows },
    { name: 'CLAUDE_CODE_TRANSCRIPTS', ...claude.transcripts },
  ];
}
