import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/runs.ts';
import type { RunSummary } from '../src/live/journal/run-summary.ts';
import type { Page } from '../src/paging.ts';
import { builder, pageComplexity } from './builder.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Session } from './session.ts';

export const Run = builder.objectRef<RunSummary>('Run').implement({
  description: 'One turn that the Web UI ran, as its journal tells.',
  fields: (t) => ({
    runId: t.exposeString('runId', { description: "The Web UI's id; also called stream id." }),
    sessionId: t.exposeString('sessionId', { description: 'The session at its start; after a rotation the run goes on under it.' }),
    lastSeq: t.int({ description: 'Number of its newest event; 0 without any.', resolve: (run) => int32(run.lastSeq) ?? 0 }),
    eventCount: t.int({ description: 'Different events.', resolve: (run) => int32(run.eventCount) ?? 0 }),
    terminal: t.exposeBoolean('terminal', { description: 'An event says that it is over.' }),
    terminalState: t.exposeString('terminalState', {
      description:
        'completed, tool_limit_reached, interrupted-by-user, interrupted-by-crash or errored; running without such an event, unknown without any.',
    }),
    malformedLines: t.int({ description: 'Lines that are no event of this run.', resolve: (run) => int32(run.malformedLines) ?? 0 }),
    missingEvents: t.int({
      description: 'Numbers below lastSeq that are missing.',
      resolve: (run) => run.holes.reduce((sum, { from, to }) => sum + to - from + 1, 0),
    }),
    openEnd: t.exposeBoolean('openEnd', { description: 'The file ends inside a line: one that is being written, or torn.' }),
    startedAt: t.field({ type: 'DateTime', nullable: true, description: 'Time of its first event.', resolve: (run) => run.firstCreatedAt }),
    lastEventAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of its newest event.',
      resolve: (run) => run.lastCreatedAt,
    }),
    sizeBytes: t.exposeFloat('sizeBytes', { description: 'Bytes of its journal.' }),
  }),
});

const RunEdge = builder.objectRef<{ cursor: string; node: RunSummary }>('RunEdge').implement({
  description: 'A run in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after`.' }),
    node: t.field({ type: Run, description: 'The run.', resolve: (edge) => edge.node }),
  }),
});

const RunConnection = builder.objectRef<Page<RunSummary>>('RunConnection').implement({
  description: 'A page of runs, newest first.',
  fields: (t) => ({
    edges: t.field({
      type: [RunEdge],
      description: 'Runs with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [Run],
      description: 'Runs alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
  }),
});

builder.objectField(Session, 'runs', (t) =>
  t.field({
    type: RunConnection,
    description: 'Turns that the Web UI ran in this session, newest first. Read from journals: ask for few.',
    args: { first: t.arg.int({ description: PAGE_DOCS.first }), after: t.arg.string({ description: PAGE_DOCS.after }) },
    complexity: (args) => ({ field: 20, multiplier: pageComplexity(args).multiplier }),
    resolve: resolve.runs,
  }),
);

builder.queryField('run', (t) =>
  t.field({
    type: Run,
    nullable: true,
    description: 'A run by its ids; null when there is none.',
    args: {
      sessionId: t.arg.string({ required: true, description: 'The session in whose folder its journal lies.' }),
      runId: t.arg.string({ required: true, description: 'Its id.' }),
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
    },
    complexity: 20,
    resolve: resolve.run,
  }),
);
