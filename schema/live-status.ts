/**
 * How this server follows what other programs write: for operators, and for a look in GraphiQL.
 */
import * as resolve from '../resolvers/live-turn.ts';
import type { LiveTurnsStatus } from '../src/live/live-turns.ts';
import { builder } from './builder.ts';

const StoreWatch = builder.objectRef<LiveTurnsStatus['stores'][number]>('LiveStoreWatch').implement({
  description: 'How a store is watched.',
  fields: (t) => ({
    profile: t.exposeString('profile', { description: 'Its profile.' }),
    users: t.exposeInt('users', { description: 'Who needs the watch; at 0 nothing is watched.' }),
    mode: t.exposeString('mode', {
      description: 'WATCH: events and a slow poll. POLL: nothing announces changes, or events were missing.',
    }),
  }),
});

const Journals = builder.objectRef<LiveTurnsStatus['journals']>('LiveJournalStatus').implement({
  description: 'Journals that are followed now.',
  fields: (t) => ({
    files: t.exposeInt('files', { description: 'Files.' }),
    bytesRead: t.exposeFloat('bytesRead', { description: 'Bytes that were read of them.' }),
    malformed: t.exposeInt('malformed', { description: 'Lines that are no record.' }),
    duplicates: t.exposeInt('duplicates', { description: 'Records whose number had come before.' }),
    generations: t.exposeInt('generations', { description: 'Files that were begun, the first ones included.' }),
    holes: t.exposeInt('holes', { description: 'Ranges of numbers that are missing.' }),
  }),
});

const Status = builder.objectRef<LiveTurnsStatus>('LiveServiceStatus').implement({
  description: 'How following goes.',
  fields: (t) => ({
    conversations: t.exposeInt('conversations', { description: 'Conversations that are followed, or were a moment ago.' }),
    active: t.exposeInt('active', { description: 'Those in which something goes on.' }),
    subscribers: t.exposeInt('subscribers', { description: 'Subscriptions of liveTurn.' }),
    logBytes: t.exposeFloat('logBytes', { description: 'Bytes of what is kept for those who are behind.' }),
    sidecars: t.exposeString('sidecars', { description: "How the Web UI's folder is watched: WATCH or POLL." }),
    stores: t.field({
      type: [StoreWatch],
      description: 'Stores that were followed since the start.',
      resolve: (status) => [...status.stores],
    }),
    journals: t.field({ type: Journals, description: 'Journals.', resolve: (status) => status.journals }),
  }),
});

builder.queryField('liveStatus', (t) =>
  t.field({ type: Status, description: 'How this server follows what other programs write.', resolve: resolve.liveStatus }),
);
