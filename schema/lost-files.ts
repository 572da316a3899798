import * as compression from '../resolvers/compression-recovery.ts';
import * as resolve from '../resolvers/lost-files.ts';
import { int32 } from '../resolvers/numbers.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';
import { Backup } from './sidecar.ts';

const CompressionRecovery = builder.objectRef<compression.CompressionRecovery>('CompressionRecovery').implement({
  description: 'What the Web UI says where a context could not be compressed any further.',
  fields: (t) => ({
    recommendedAction: t.exposeString('recommendedAction', { description: 'start_focused_continuation: see `startCompressionRecovery`.' }),
    sourceSessionId: t.exposeString('sourceSessionId', { nullable: true, description: 'The exhausted session, as the file says.' }),
    createdAt: t.field({ type: 'DateTime', nullable: true, description: 'Since when.', resolve: ({ createdAt }) => createdAt }),
    title: t.exposeString('title', { nullable: true, description: 'In a few words.' }),
    summary: t.exposeString('summary', { nullable: true, description: 'In a sentence or two.' }),
    actionLabel: t.exposeString('actionLabel', { nullable: true, description: 'For a button.' }),
    message: t.exposeString('message', { nullable: true, description: 'What went wrong.' }),
    details: t.exposeString('details', { nullable: true, description: 'More of it; at most 1,200 characters.' }),
    lastPromptTokens: t.int({
      nullable: true,
      description: 'Of the last prompt; 0: unknown.',
      resolve: (found) => int32(found.lastPromptTokens),
    }),
    thresholdTokens: t.int({
      nullable: true,
      description: 'Where a compression begins; 0: unknown.',
      resolve: (found) => int32(found.thresholdTokens),
    }),
    contextLength: t.int({
      nullable: true,
      description: 'What the model can hold; 0: unknown.',
      resolve: (found) => int32(found.contextLength),
    }),
  }),
});

const SessionGoneReason = builder.enumType('SessionGoneReason', {
  description: 'Why there is no session of an id that the Web UI knows.',
  values: {
    DELETED: { description: 'It was deleted in the Web UI.' },
    SIDECAR_MISSING: { description: 'Its file is lost, and the store has nothing of it.' },
  } as const,
});

const SessionGoneType = builder.objectRef<resolve.SessionGone>('SessionGone').implement({
  description: 'A session that is not there any more.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'As asked.' }),
    reason: t.field({ type: SessionGoneReason, description: 'Why.', resolve: ({ reason }) => reason }),
  }),
});

builder.objectFields(Session, (t) => ({
  sidecarMissing: t.boolean({
    description: 'It is a session of the Web UI whose file is lost: `materializeSidecars` makes it anew from the messages of the store.',
    complexity: 2,
    resolve: resolve.sidecarMissing,
  }),
  backup: t.field({
    type: Backup,
    nullable: true,
    description:
      'The copy of an earlier state of its file, also where the file is lost; null without one. Both files are read whole for it.',
    complexity: 20,
    resolve: resolve.backup,
  }),
  compressionRecovery: t.field({
    type: CompressionRecovery,
    nullable: true,
    description: 'What to do about an exhausted context; null where it is not exhausted.',
    resolve: compression.compressionRecovery,
  }),
  compressionRecoveryChild: t.field({
    type: Session,
    nullable: true,
    description: 'The focused continuation that was begun of it; the oldest of several.',
    complexity: 2,
    resolve: compression.compressionRecoveryChild,
  }),
  continuation: t.field({
    type: Session,
    nullable: true,
    description: 'Of a segment that a compression archived in the Web UI: the newest session that it goes on in. Null for all others.',
    complexity: 2,
    resolve: compression.continuation,
  }),
}));

builder.queryFields((t) => ({
  sessionGone: t.field({
    type: SessionGoneType,
    nullable: true,
    description: 'Why `session` gives nothing for an id; null where it gives a session, and for ids that nothing knows.',
    args: {
      sessionId: t.arg.string({ required: true, description: 'The id.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
    },
    resolve: resolve.sessionGone,
  }),
}));
