import * as resolve from '../resolvers/lineage-report.ts';
import type { ReportedChild, ReportedSegment } from '../src/web-ui/list/lineage-report.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';

const SegmentRole = builder.enumType('ReportedSegmentRole', {
  description: 'What a segment is to a lineage report.',
  values: {
    TIP: { value: 'tip', description: 'The session that was asked for.' },
    HIDDEN_SEGMENT: { value: 'hidden_segment', description: 'It goes on in the next; lists show it by that one.' },
  } as const,
});

const LineageRelation = builder.enumType('LineageRelation', {
  description: 'What a child is to its parent by the rules of the Web UI. `EdgeKind` is the same by the rules of the agent.',
  values: {
    CONTINUATION: { description: 'The conversation goes on in it.' },
    FORK: { description: 'It began as a copy of the conversation.' },
    RESET: { description: 'A new conversation took over the same place.' },
    DELEGATE: { description: 'A sub-agent.' },
    CROSS_SURFACE: { description: 'It was begun from another surface.' },
    CHILD: { description: 'It names the parent, and nothing says more.' },
  } as const,
});

const Segment = builder.objectRef<resolve.Reported<ReportedSegment>>('ReportedSegment').implement({
  description: 'One part of a conversation.',
  fields: (t) => ({
    sessionId: t.exposeString('id', { description: "The store's own id." }),
    session: t.field({ type: Session, nullable: true, description: 'The session.', resolve: resolve.sessionOf }),
    title: t.exposeString('title', { nullable: true, description: 'As stored.' }),
    role: t.field({ type: SegmentRole, description: 'What it is to the report.', resolve: ({ role }) => role }),
    startedAt: t.field({ type: 'DateTime', nullable: true, description: 'Creation.', resolve: ({ startedAt }) => startedAt }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Its end, else its creation.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
    active: t.exposeBoolean('active', { description: 'It has not ended.' }),
  }),
});

const Child = builder.objectRef<resolve.Reported<ReportedChild>>('ReportedChild').implement({
  description: 'A session that came from a segment and does not continue it.',
  fields: (t) => ({
    sessionId: t.exposeString('id', { description: "The store's own id." }),
    session: t.field({ type: Session, nullable: true, description: 'The session.', resolve: resolve.sessionOf }),
    title: t.exposeString('title', { nullable: true, description: 'As stored.' }),
    parentSessionId: t.exposeString('parentId', { description: 'The segment that it came from.' }),
    relation: t.field({ type: LineageRelation, description: 'What it is to that segment.', resolve: ({ relation }) => relation }),
    startedAt: t.field({ type: 'DateTime', nullable: true, description: 'Creation.', resolve: ({ startedAt }) => startedAt }),
  }),
});

const Report = builder.objectRef<resolve.SessionLineageReport>('SessionLineageReport').implement({
  description: 'How a conversation hangs together by the rules of the Web UI, seen from one of its sessions.',
  fields: (t) => ({
    found: t.exposeBoolean('found', { description: 'There is such a session.' }),
    lineageKey: t.exposeString('lineageKey', { nullable: true, description: 'The first segment; null when nothing was found.' }),
    tipSessionId: t.exposeString('tipSessionId', { description: 'The session that was asked for.' }),
    segments: t.field({
      type: [Segment],
      description: 'It and what it continues, newest first, at most 21.',
      resolve: resolve.segments,
    }),
    children: t.field({
      type: [Child],
      description: 'What else came from these segments, newest first for each.',
      resolve: resolve.children,
    }),
    manualReview: t.exposeBoolean('manualReview', {
      description: 'This is not the whole conversation: a loop, a chain that is too long, or a segment that goes on elsewhere too.',
    }),
  }),
});

builder.queryFields((t) => ({
  sessionLineageReport: t.field({
    type: Report,
    description:
      'What a session continues and what came from it. Here `cli_close` continues as well as `compression`; `Session.lineage` follows the agent. An unknown session is not found, which is no error.',
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id." }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
    },
    complexity: 10,
    resolve: resolve.sessionLineageReport,
  }),
}));
