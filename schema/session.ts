import { references } from '../resolvers/list-references.ts';
import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/session.ts';
import * as lists from '../resolvers/sessions.ts';
import { isReadOnly } from '../resolvers/sidecar.ts';
import * as stores from '../resolvers/stores.ts';
import type { StoredSession } from '../src/session-store.ts';
import { originsOf, type SurfaceCounts } from '../src/state-db/listing.ts';
import { isUnread } from '../src/state-db/session-state.ts';
import { builder, pageComplexity } from './builder.ts';
import { Warning } from './errors.ts';
import { LivenessType } from './liveness.ts';
import { Node, nodeId } from './node.ts';
import { PAGE_DOCS, PageInfo, pageInfo } from './paging.ts';
import { Profile } from './store.ts';
import { ModelUsageType, Usage } from './usage.ts';

export const EdgeKind = builder.enumType('EdgeKind', {
  description: 'How a session came from its parent.',
  values: {
    COMPRESSION: { description: 'It continues the same conversation.' },
    BRANCH: { description: 'It started as a copy of the conversation.' },
    RESET: { description: 'A new conversation took over the same place.' },
    DELEGATE: { description: 'A sub-agent, or an untagged child.' },
    TOOL: { description: 'A tool ran in it.' },
    UNKNOWN: { description: 'The parent is gone, and nothing says what it was.' },
  } as const,
});

const SessionOrigin = builder.enumType('SessionOrigin', {
  description: 'Where a session is stored.',
  values: {
    STATE_DB: { description: 'In state.db.' },
    WEB_UI: { description: 'In a file of the Web UI.' },
    CLAUDE_CODE: { description: 'In a Claude Code transcript.' },
  } as const,
});

const SessionSource = builder.objectRef<resolve.SessionSource>('SessionSource').implement({
  description: 'The surface on which a session runs.',
  fields: (t) => ({
    raw: t.exposeString('raw', { description: 'As stored; this is what filters compare.' }),
    family: t.exposeString('family', { description: 'CLI, CHAT, WEB, API, BACKGROUND, DELEGATE or OTHER.' }),
    label: t.exposeString('label', { description: 'For people.' }),
  }),
});

export const Session = builder.objectRef<StoredSession>('Session').implement({
  description: 'One stored session: a conversation, or one segment of it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Global id.', resolve: (session) => nodeId('Session', session, session.id) }),
    sessionId: t.exposeString('id', { description: "The store's own id." }),
    conversationId: t.exposeString('conversationId', {
      description: 'The same for every segment of one conversation: the root of its compression chain. Stays when the session id rotates.',
    }),
    profile: t.field({ type: Profile, description: 'The profile it belongs to.', resolve: stores.profileOf }),
    origins: t.field({ type: [SessionOrigin], description: 'Where it is stored.', resolve: (session) => [...originsOf(session)] }),
    source: t.field({ type: SessionSource, description: 'The surface it runs on.', resolve: resolve.sourceOf }),
    title: t.exposeString('title', { nullable: true, description: 'As stored. `displayTitle` is what to show.' }),
    displayTitle: t.string({
      description: 'The title, else that of another segment of the conversation, else the preview, else a neutral name.',
      complexity: 2,
      resolve: resolve.displayTitle,
    }),
    preview: t.string({
      nullable: true,
      description: 'The first words of the user, at most 63 characters; null when there are none.',
      complexity: 2,
      resolve: resolve.preview,
    }),
    model: t.exposeString('model', { nullable: true, description: 'As recorded.' }),
    provider: t.exposeString('billingProvider', { nullable: true, description: 'Who was billed first.' }),
    startedAt: t.field({ type: 'DateTime', nullable: true, description: 'Creation.', resolve: (session) => session.startedAt }),
    endedAt: t.field({ type: 'DateTime', nullable: true, description: 'Null while it is open.', resolve: (session) => session.endedAt }),
    endReason: t.exposeString('endReason', { nullable: true, description: 'As stored; "compression" when another session continues it.' }),
    lastActiveAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The newest message or heartbeat, else the start.',
      resolve: (session) => session.recency,
    }),
    archived: t.exposeBoolean('archived', { description: 'Put away by the user.' }),
    pinned: t.exposeBoolean('pinned', { description: 'Kept on top.' }),
    hidden: t.exposeBoolean('hidden', { description: 'Not for lists.' }),
    unread: t.boolean({ description: 'Something is newer than the read mark.', resolve: isUnread }),
    readOnly: t.boolean({
      description: 'This server may not change it, or it was imported from where the Web UI does not write to.',
      resolve: isReadOnly,
    }),
    cwd: t.exposeString('cwd', { nullable: true, description: 'Working folder.' }),
    gitBranch: t.exposeString('gitBranch', { nullable: true, description: 'Branch at the time.' }),
    messageCount: t.int({
      nullable: true,
      description: "Live messages of this stored session, counted from its rows; null when they can't be read.",
      resolve: resolve.messageCount,
    }),
    storedMessageCount: t.int({
      nullable: true,
      description: 'The counter that its writers keep; it may have drifted.',
      resolve: (session) => int32(session.storedMessageCount),
    }),
    toolCallCount: t.int({
      nullable: true,
      description: 'The counter of tool calls that its writers keep.',
      resolve: (session) => int32(session.toolCallCount),
    }),
    usage: t.field({
      type: Usage,
      description: 'Tokens and cost of this stored session, auxiliary tasks not included.',
      resolve: resolve.usage,
    }),
    modelUsage: t.field({ type: [ModelUsageType], description: 'The same by model, route and task.', resolve: resolve.modelUsage }),
    edgeKind: t.field({
      type: EdgeKind,
      nullable: true,
      description: 'How it came from its parent; null without one.',
      resolve: (session) => session.edgeKind,
    }),
    liveness: t.field({ type: LivenessType, description: 'Whether a turn is running.', complexity: 2, resolve: stores.liveness }),
    warnings: t.field({
      type: [Warning],
      description: 'Values that could not be trusted, and what was done about them.',
      resolve: resolve.warnings,
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  parent: t.field({
    type: Session,
    nullable: true,
    description: 'The session that it came from; null also when that is gone.',
    resolve: resolve.parent,
  }),
  children: t.field({
    type: [Session],
    description: 'Sessions that came from it.',
    args: { kinds: t.arg({ type: [EdgeKind], description: 'Only these kinds.' }) },
    resolve: resolve.children,
  }),
  root: t.field({ type: Session, description: 'The first segment of the conversation.', resolve: resolve.root }),
  tip: t.field({
    type: Session,
    description: 'Where the conversation goes on: the last of its continuations, itself when there is none.',
    resolve: resolve.tip,
  }),
}));

// ---------------------------------------------------------------- lists

const HiddenCount = builder.objectRef<lists.HiddenCount>('HiddenCount').implement({
  description: 'Rows that the defaults of the filter keep out.',
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        'SEGMENT, DELEGATE, ORPHAN, BACKGROUND, ARCHIVED, HIDDEN, EMPTY, or an UnlistedReason; each row counts once, under the first that applies.',
    }),
    count: t.exposeInt('count', { description: 'Rows.' }),
  }),
});

const Counts = builder.objectRef<SurfaceCounts>('SessionCounts').implement({
  description: 'Entries of a list by where they run; archived ones whether it shows them or not.',
  fields: (t) => ({
    webUi: t.exposeInt('webUi', { description: 'Of the Web UI, of chats and of everything else that is no terminal.' }),
    terminal: t.exposeInt('terminal', { description: 'Of terminals, and of Claude Code.' }),
    archivedWebUi: t.exposeInt('archivedWebUi', { description: 'The same as `webUi`, archived.' }),
    archivedTerminal: t.exposeInt('archivedTerminal', { description: 'The same as `terminal`, archived.' }),
  }),
});

const SessionEdge = builder.objectRef<{ cursor: string; node: StoredSession }>('SessionEdge').implement({
  description: 'A session in a list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Opaque; give it as `after` or `before`.' }),
    node: t.field({ type: Session, description: 'The session; with LINEAGE the tip of its conversation.', resolve: (edge) => edge.node }),
  }),
});

export const SessionConnection = builder.objectRef<lists.SessionConnection>('SessionConnection').implement({
  description: 'A page of sessions.',
  fields: (t) => ({
    edges: t.field({
      type: [SessionEdge],
      description: 'Sessions with their cursors.',
      complexity: { multiplier: 1 },
      resolve: (page) => [...page.items],
    }),
    nodes: t.field({
      type: [Session],
      description: 'Sessions alone.',
      complexity: { multiplier: 1 },
      resolve: (page) => page.items.map((item) => item.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: pageInfo }),
    degraded: t.boolean({
      description: "These are files alone: the store can't be read. See `Store.problem`.",
      resolve: ({ isDegraded }) => isDegraded,
    }),
    totalCount: t.int({ description: 'How many entries all pages together have.', complexity: 10, resolve: lists.totalCount }),
    hiddenCounts: t.field({
      type: [HiddenCount],
      description: "What the filter's defaults keep out, by reason: nothing disappears silently.",
      complexity: 10,
      resolve: lists.hiddenCounts,
    }),
    counts: t.field({
      type: Counts,
      description: 'The entries of all pages by where they run.',
      complexity: 10,
      resolve: lists.surfaceCounts,
    }),
    references: t.field({
      type: [Session],
      description:
        'Archived sessions that entries of this page came from, and that the list leaves out: enough to nest the entries. Nearest first, at most 200.',
      complexity: 10,
      resolve: references,
    }),
  }),
});

const SessionOrder = builder.enumType('SessionOrder', {
  description: 'Order of a session list. Unknown times come last.',
  values: {
    RECENT_ACTIVITY: { description: 'Newest activity first, over all segments of a conversation.' },
    STARTED: { description: 'Newest start first.' },
    PINNED_THEN_RECENT: { description: 'Pinned ones first, then by activity.' },
    TITLE: { description: 'By title, untitled ones last.' },
  } as const,
});

const LineageCollapse = builder.enumType('LineageCollapse', {
  description: 'LINEAGE: one entry a conversation, shown as its tip. NONE: every stored row.',
  values: { LINEAGE: { description: 'One entry a conversation, shown as its tip.' }, NONE: { description: 'Every stored row.' } } as const,
});

const SessionFilter = builder.inputType('SessionFilter', {
  description: 'Which sessions a list shows. With LINEAGE, source and flags are those of the first segment.',
  fields: (t) => ({
    sources: t.stringList({ description: 'Only these sources, background ones too; an empty list finds nothing.' }),
    excludeSources: t.stringList({ description: 'Not these sources.' }),
    origins: t.field({ type: [SessionOrigin], description: 'Only what is stored there.' }),
    archived: t.boolean({ description: 'true: only archived ones. false or left out: none of them.' }),
    includeArchived: t.boolean({ defaultValue: false, description: 'Archived ones beside the others.' }),
    pinned: t.boolean({ description: 'Only pinned ones, or only the others.' }),
    includeHidden: t.boolean({ defaultValue: false, description: 'Hidden ones too.' }),
    includeBackground: t.boolean({ defaultValue: false, description: 'Cron, webhook and kanban runs, tools and one-shots too.' }),
    includeDelegates: t.boolean({ defaultValue: false, description: 'Delegated (sub-agent) children as entries of their own.' }),
    includeOrphans: t.boolean({
      defaultValue: false,
      description: 'Children whose parent is missing, or part of a loop, as entries of their own.',
    }),
    includeEmpty: t.boolean({ defaultValue: false, description: 'Conversations without any message too.' }),
    includeUnlisted: t.boolean({
      defaultValue: false,
      description:
        "Also what the Web UI's own list leaves out by its rules: snapshots, terminal sessions that hold too little, earlier chats.",
    }),
    projectId: t.id({ description: 'Only sessions of this project of the Web UI.' }),
    titleContains: t.string({ description: 'Text in the title of any segment, case ignored; at most 500 characters.' }),
    titleOrIdContains: t.string({
      description: 'Text in the title or id of any segment, case and separators ignored; at most 500 characters.',
    }),
    sessionKey: t.string({ description: 'Only with this routing key.' }),
    cwdPrefix: t.string({ description: 'Only in this working folder or below it.' }),
    activeSince: t.field({ type: 'DateTime', description: 'Last active at or after.' }),
    activeBefore: t.field({ type: 'DateTime', description: 'Last active before.' }),
  }),
});

const PROFILE = 'Default: the profile that this server was started for.';

builder.queryFields((t) => ({
  session: t.field({
    type: Session,
    nullable: true,
    description: "By the store's own id. Null when there is none; an unreadable store is an error.",
    args: {
      sessionId: t.arg.string({ required: true, description: "The store's own id." }),
      profile: t.arg.string({ description: PROFILE }),
    },
    resolve: lists.session,
  }),
  resolveSession: t.field({
    type: Session,
    nullable: true,
    description: 'By an id, the beginning of one, or a title. Several ids that start alike are an error with AMBIGUOUS_ID.',
    args: {
      reference: t.arg.string({ required: true, description: 'Id, beginning of an id, or title.' }),
      profile: t.arg.string({ description: PROFILE }),
      followTip: t.arg.boolean({ defaultValue: true, description: 'Follow a compressed session to where it goes on.' }),
    },
    resolve: lists.resolveSession,
  }),
  sessions: t.field({
    type: SessionConnection,
    description: 'Sessions, newest activity first by default, one entry a conversation.',
    args: {
      first: t.arg.int({ description: PAGE_DOCS.first }),
      after: t.arg.string({ description: PAGE_DOCS.after }),
      last: t.arg.int({ description: PAGE_DOCS.last }),
      before: t.arg.string({ description: PAGE_DOCS.before }),
      profile: t.arg.string({ description: PROFILE }),
      allProfiles: t.arg.boolean({ defaultValue: false, description: 'Of all profiles that can be read, as one list.' }),
      filter: t.arg({ type: SessionFilter, description: 'Which sessions.' }),
      orderBy: t.arg({ type: SessionOrder, defaultValue: 'RECENT_ACTIVITY', description: 'In which order.' }),
      collapse: t.arg({ type: LineageCollapse, defaultValue: 'LINEAGE', description: 'One entry a conversation, or every row.' }),
    },
    complexity: pageComplexity,
    resolve: lists.sessions,
  }),
}));
