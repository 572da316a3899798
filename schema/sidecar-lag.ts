import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/sidecar-lag.ts';
import { builder } from './builder.ts';
import { JournalRetryType } from './message-facts.ts';
import { Session } from './session.ts';

const Lag = builder.objectRef<resolve.SidecarLag>('SidecarLag').implement({
  description: "How far the Web UI's file of a session is behind the store.",
  fields: (t) => ({
    stateDbAhead: t.exposeBoolean('stateDbAhead', { description: 'The store has more rows, or newer ones.' }),
    rowsAhead: t.int({ description: 'Rows of any state that it has more; 0 without.', resolve: ({ rowsAhead }) => int32(rowsAhead) ?? 0 }),
    secondsAhead: t.exposeFloat('secondsAhead', {
      description: 'Seconds from the last save of the file, or its last message where all of it was read, to the newest row; 0 without.',
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  sidecarLag: t.field({
    type: Lag,
    nullable: true,
    description: 'How far its file is behind the store. Null without a file, and where only all of the file would tell.',
    complexity: 2,
    resolve: resolve.sidecarLag,
  }),
  journalRetry: t.field({
    type: JournalRetryType,
    nullable: true,
    description: 'What the Web UI still tries to recover, by the last 64 KiB of its messages; null when that is nothing.',
    complexity: 5,
    resolve: resolve.journalRetry,
  }),
}));
