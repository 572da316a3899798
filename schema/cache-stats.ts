/**
 * What this server keeps of files that it has read: for operators, and for a look in GraphiQL.
 */
import * as resolve from '../resolvers/cache-stats.ts';
import { builder } from './builder.ts';

const CacheName = builder.enumType('CacheName', {
  description: 'What is kept. Each entry is used as long as its file is the same, and read again when it is not.',
  values: {
    SIDECAR_LIST: {
      description: "What lists need of every session file of the Web UI: as many entries as files. A hit is a file that needn't be read.",
    },
    SIDECARS: { description: 'Session files with everything but their messages.' },
    SIDECAR_HEADS: { description: 'Beginnings of session files, for turns under way.' },
    TRANSCRIPTS: { description: 'Sessions of files with their messages, put together with the store. Good while neither changes.' },
    RUN_SUMMARIES: { description: 'How runs went, by their journals.' },
    TURN_JOURNALS: { description: 'The newest turns of sessions.' },
    CLAUDE_CODE_LIST: { description: 'What lists need of transcripts of Claude Code.' },
    CLAUDE_CODE_TRANSCRIPTS: { description: 'Their messages.' },
  } as const,
});

const Stats = builder.objectRef<resolve.NamedCache>('CacheStats').implement({
  description: 'How a cache is, counted since the start of this server.',
  fields: (t) => ({
    name: t.field({ type: CacheName, description: 'Which.', resolve: ({ name }) => name }),
    entries: t.exposeInt('entries', { description: 'What is in it.' }),
    bytes: t.exposeFloat('bytes', {
      nullable: true,
      description: 'Roughly, a character as a byte; null where only entries are counted.',
    }),
    cap: t.exposeInt('cap', { nullable: true, description: 'Entries that it may have; null: as many as there are files.' }),
    capBytes: t.exposeFloat('capBytes', { nullable: true, description: 'What `bytes` may be; the last used is kept whatever its size.' }),
    hits: t.exposeFloat('hits', { description: 'Answers from it.' }),
    misses: t.exposeFloat('misses', { description: 'Answers for which it had nothing that was still good.' }),
    evictions: t.exposeFloat('evictions', { description: 'Entries that went to make room.' }),
  }),
});

builder.queryField('cacheStats', (t) =>
  t.field({ type: [Stats], description: 'What this server keeps of files that it has read.', resolve: resolve.cacheStats }),
);
