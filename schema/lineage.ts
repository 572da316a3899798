import * as resolve from '../resolvers/lineage.ts';
import * as session from '../resolvers/session.ts';
import type { StoredSession } from '../src/session-store.ts';
import type { FamilyEdge, FamilyProblem } from '../src/state-db/family.ts';
import { builder } from './builder.ts';
import { EdgeKind, Session } from './session.ts';

const LineageEdge = builder.objectRef<FamilyEdge>('LineageEdge').implement({
  description: 'A child and its parent.',
  fields: (t) => ({
    parentSessionId: t.exposeString('parentSessionId', { description: "The store's own id." }),
    childSessionId: t.exposeString('childSessionId', { description: "The store's own id." }),
    kind: t.field({ type: EdgeKind, description: 'How the child came from the parent.', resolve: (edge) => edge.kind }),
  }),
});

const LineageProblem = builder.objectRef<FamilyProblem>('LineageProblem').implement({
  description: 'Something that is wrong with a family.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: 'CYCLE, MISSING_PARENT, SEVERAL_LIVE_HEADS, COMPRESSION_WITHOUT_CHILD, EMPTY_CONTINUATION or TRUNCATED.',
    }),
    message: t.exposeString('message', { description: 'For people.' }),
    sessionIds: t.stringList({ description: 'The sessions concerned.', resolve: (problem) => [...problem.sessionIds] }),
  }),
});

const Lineage = builder.objectRef<StoredSession>('Lineage').implement({
  description: 'Where a session comes from and where it goes.',
  fields: (t) => ({
    root: t.field({ type: Session, description: 'The first segment of the conversation.', resolve: session.root }),
    tip: t.field({ type: Session, description: 'Where the conversation goes on.', resolve: session.tip }),
    segments: t.field({ type: [Session], description: 'The compression chain, root first.', resolve: resolve.segments }),
    liveContinuation: t.field({
      type: Session,
      nullable: true,
      description:
        'The one open session that continues this one, also where it inherited the marker of a fork; null for none and for several.',
      resolve: resolve.liveContinuation,
    }),
    nodes: t.field({
      type: [Session],
      description: 'The whole family, from the top down, at most 2,000.',
      complexity: 10,
      resolve: resolve.nodes,
    }),
    edges: t.field({ type: [LineageEdge], description: 'Who came from whom.', resolve: resolve.edges }),
    problems: t.field({ type: [LineageProblem], description: 'What is wrong with the family.', resolve: resolve.problems }),
    mermaid: t.string({
      description: 'A Mermaid flowchart of nodes and edges. Titles in it are escaped.',
      complexity: 10,
      resolve: resolve.chart,
    }),
  }),
});

builder.objectField(Session, 'lineage', (t) =>
  t.field({ type: Lineage, description: 'Its chain, its family, and their problems.', resolve: resolve.lineage }),
);
