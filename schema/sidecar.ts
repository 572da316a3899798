import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/sidecar.ts';
import type { Beside } from '../src/state-db/beside.ts';
import type { SidecarBackup } from '../src/web-ui/backup.ts';
import { signatureText } from '../src/web-ui/sidecar/read-sidecar.ts';
import {
  isNoSession,
  type SidecarCompression,
  type SidecarCompressionRecovery,
  type SidecarContext,
  type SidecarRow,
  type SidecarTruncation,
  type SidecarUsage,
  type SidecarWorktree,
} from '../src/web-ui/sidecar/sidecar-row.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';

const SidecarHealth = builder.enumType('SidecarHealth', {
  description: "How a session's file is.",
  values: {
    OK: { description: 'It was read whole.' },
    UNKNOWN: { description: 'Only its beginning was read, which is sound.' },
    CORRUPT: { description: 'It is no JSON object.' },
    DAMAGED_ENCODING: { description: 'It has bytes that are no UTF-8: shown without them, never written.' },
    TOO_LARGE: { description: 'It is over the limit for whole reads; what is told is from its beginning.' },
    UNREADABLE: { description: 'The system refuses to read it.' },
  } as const,
});

const UnlistedReason = builder.enumType('UnlistedReason', {
  description: "Why the Web UI's own list leaves a session out.",
  values: {
    SNAPSHOT: { description: 'A segment that was archived by a compression; another stands for it.' },
    TOMBSTONED: { description: 'It was deleted in the Web UI.' },
    TERMINAL: { description: 'A session of a terminal that holds too little, or these are switched off.' },
    PREVIOUS_SEGMENT: { description: 'An earlier chat of the same place.' },
    ORPHAN_IMPORT: { description: 'What it was imported from is gone.' },
    BACKGROUND: { description: 'A run that nobody talks to; at most its project shows it.' },
    SOURCE_FILTERED: { description: 'The settings of the Web UI keep its source out.' },
    EMPTY: { description: 'It has no messages.' },
    SEGMENT: { description: 'Another row stands for its conversation.' },
  } as const,
});

const Provenance = builder.objectRef<Beside['provenance']>('SessionProvenance').implement({
  description: 'Where values of a session came from: SIDECAR, INDEX, STATE_DB, CLAUDE_CODE or DERIVED.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'The title.' }),
    messageCount: t.exposeString('messageCount', { description: 'The number of messages that the list of the Web UI shows.' }),
    source: t.exposeString('source', { description: 'The source.' }),
    lastMessageAt: t.exposeString('lastMessageAt', { description: 'The time of the last message.' }),
  }),
});

const Draft = builder.objectRef<SidecarRow['composerDraft']>('ComposerDraft').implement({
  description: 'What a person has typed and not sent.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text; empty without one.' }),
    files: t.field({ type: ['JSON'], description: 'Attached files, as the browser stored them.', resolve: ({ files }) => [...files] }),
  }),
});

const Worktree = builder.objectRef<SidecarWorktree>('SessionWorktree').implement({
  description: 'The git worktree of a session.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Where it lies.' }),
    branch: t.exposeString('branch', { nullable: true, description: 'Its branch.' }),
    repoRoot: t.exposeString('repoRoot', { nullable: true, description: 'The repository.' }),
    createdAt: t.field({ type: 'DateTime', nullable: true, description: 'Creation.', resolve: ({ createdAt }) => createdAt }),
  }),
});

const ContextType = builder.objectRef<SidecarContext>('SidecarContext').implement({
  description: 'How full the context of the model is, in tokens.',
  fields: (t) => ({
    length: t.int({ nullable: true, description: 'What the model can hold.', resolve: (context) => int32(context.length) }),
    thresholdTokens: t.int({
      nullable: true,
      description: 'Where a compression begins.',
      resolve: (context) => int32(context.thresholdTokens),
    }),
    lastPromptTokens: t.int({
      nullable: true,
      description: 'Of the last prompt.',
      resolve: (context) => int32(context.lastPromptTokens),
    }),
    postCompressionEstimate: t.int({
      nullable: true,
      description: 'An estimate of what the last compression left.',
      resolve: (context) => int32(context.postCompressionEstimate),
    }),
  }),
});

const Compression = builder.objectRef<SidecarCompression>('SidecarCompression').implement({
  description: 'The last compression of a session.',
  fields: (t) => ({
    anchorVisibleIndex: t.int({
      nullable: true,
      description: 'Behind which shown message it stands.',
      resolve: (compression) => int32(compression.anchorVisibleIndex),
    }),
    anchorMessageKey: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What that message is known by.',
      resolve: (compression) => compression.anchorMessageKey,
    }),
    summary: t.exposeString('summary', { nullable: true, description: 'The summary that stands for what was compressed.' }),
    mode: t.exposeString('mode', { nullable: true, description: 'manual or auto.' }),
    engine: t.exposeString('engine', { nullable: true, description: 'What compressed it.' }),
    contextEngine: t.exposeString('contextEngine', { nullable: true, description: 'What keeps its context.' }),
  }),
});

const CompressionRecovery = builder.objectRef<SidecarCompressionRecovery>('SidecarCompressionRecovery').implement({
  description: 'What is left to do where a compression found nothing more to leave out.',
  fields: (t) => ({
    recommendedAction: t.exposeString('recommendedAction', { nullable: true, description: 'What the Web UI proposes.' }),
    sourceSessionId: t.exposeString('sourceSessionId', {
      nullable: true,
      description: 'Of which exhausted session this one is the answer.',
    }),
    action: t.exposeString('action', { nullable: true, description: 'To which action.' }),
  }),
});

const Truncation = builder.objectRef<SidecarTruncation>('SidecarTruncation').implement({
  description: 'Where a session was cut by its user. Rows of the store beyond it are not shown in the Web UI.',
  fields: (t) => ({
    watermark: t.exposeFloat('watermark', {
      nullable: true,
      description: 'Epoch seconds of the last message that was kept; 0: truncated to nothing; null: never cut.',
    }),
    boundary: t.exposeFloat('boundary', { nullable: true, description: 'Epoch seconds up to which rows of the store may be shown.' }),
    clearedToEmpty: t.boolean({ description: 'It was cleared.', resolve: ({ watermark }) => watermark === 0 }),
  }),
});

const WakeupPause = builder.objectRef<resolve.WakeupPause>('WakeupPause').implement({
  description: 'Automatic turns are held because the provider could not be used.',
  fields: (t) => ({
    classification: t.exposeString('classification', { nullable: true, description: 'Why, for programs.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model that failed.' }),
    provider: t.exposeString('provider', { nullable: true, description: 'Its provider.' }),
    firstPausedAt: t.field({ type: 'DateTime', nullable: true, description: 'Since when.', resolve: (pause) => pause.firstPausedAt }),
    lastErrorAt: t.field({ type: 'DateTime', nullable: true, description: 'The last failure.', resolve: (pause) => pause.lastErrorAt }),
    visibleErrorCount: t.int({
      nullable: true,
      description: 'Failures that were shown.',
      resolve: (pause) => int32(pause.visibleErrorCount),
    }),
    suppressedCount: t.int({ nullable: true, description: 'Turns that were held.', resolve: (pause) => int32(pause.suppressedCount) }),
    lastSuppressedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The last one.',
      resolve: (pause) => pause.lastSuppressedAt,
    }),
    credentialStateChanged: t.boolean({
      description:
        "The profile's credentials or settings are others than then, or nobody noted them: the Web UI will look again before its next automatic turn.",
      complexity: 5,
      resolve: resolve.credentialsChanged,
    }),
  }),
});

export const Backup = builder.objectRef<SidecarBackup>('SidecarBackup').implement({
  description: "The copy that a save with fewer messages left beside a session's file.",
  fields: (t) => ({
    recommendation: t.exposeString('recommendation', { description: 'RESTORE: it is the better copy. NO_ACTION: it is not.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description:
        'Why a copy with more messages is not to be restored: INTENTIONAL_CLEAR_TRUNCATE, INTENTIONAL_COMPRESS_SHRINK or INTENTIONAL_MESSAGE_SHRINK.',
    }),
    liveMessages: t.int({
      nullable: true,
      description: 'Messages in the file; null when it is no session.',
      resolve: ({ liveMessages }) => countOf(liveMessages),
    }),
    backupMessages: t.int({
      nullable: true,
      description: 'Messages in the copy; null when it is no session.',
      resolve: ({ backupMessages }) => countOf(backupMessages),
    }),
    modifiedAt: t.field({ type: 'DateTime', nullable: true, description: 'When it was written.', resolve: ({ modifiedAt }) => modifiedAt }),
    liveIsNewer: t.exposeBoolean('liveIsNewer', { description: 'The file has messages that are newer than the last one in the copy.' }),
  }),
});

function countOf(messages: number): number | null {
  return messages < 0 ? null : int32(messages);
}

const FileUsage = builder.objectRef<SidecarUsage>('SidecarUsage').implement({
  description: "What the turns of a session used, as the Web UI's file has it.",
  fields: (t) => ({
    inputTokens: t.exposeFloat('inputTokens', { nullable: true, description: 'Tokens, those of the cache included.' }),
    outputTokens: t.exposeFloat('outputTokens', { nullable: true, description: 'Tokens.' }),
    cacheReadTokens: t.exposeFloat('cacheReadTokens', { nullable: true, description: 'Tokens.' }),
    cacheWriteTokens: t.exposeFloat('cacheWriteTokens', { nullable: true, description: 'Tokens.' }),
    estimatedCost: t.exposeFloat('estimatedCost', { nullable: true, description: 'US dollars; null where nobody estimated.' }),
  }),
});

const TitleSource = builder.enumType('SidecarTitleSource', {
  description: 'Who made the title of a session in the Web UI.',
  values: {
    MANUAL: { description: 'A person.' },
    GENERATED: { description: 'A model.' },
    GENERIC: { description: 'The Web UI, which numbered it.' },
    UNTITLED: { description: 'Nobody yet.' },
    FIRST_MESSAGE: { description: 'It is the beginning of the first message, or came with an import.' },
  } as const,
});

const SidecarLayout = builder.enumType('SidecarLayout', {
  description: "How a session's file is laid out.",
  values: {
    MODERN: { description: 'What lists need stands before the messages.' },
    LEGACY: { description: 'The number of messages takes the whole file to know.' },
  } as const,
});

export const Sidecar = builder.objectRef<resolve.Sidecar>('SessionSidecar').implement({
  description: "What the Web UI's file of a session says. Tokens of shares and prompts that wait are never told here.",
  fields: (t) => ({
    health: t.field({ type: SidecarHealth, description: 'How the file is.', resolve: ({ health }) => health }),
    signature: t.string({
      description: 'Another for every save; give it as `ifSignature` to change only what you saw.',
      resolve: ({ signature }) => signatureText(signature),
    }),
    bytes: t.float({ description: 'Its size.', resolve: ({ signature }) => signature.size }),
    savedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The last save.',
      resolve: ({ signature }) => Number(signature.mtimeNs / 1_000_000n) / 1000,
    }),
    updatedAt: t.field({ type: 'DateTime', nullable: true, description: 'As the file says.', resolve: ({ updatedAt }) => updatedAt }),
    unknownKeys: t.stringList({
      description: 'Members that the Web UI does not know; changes keep them.',
      resolve: (row) => [...row.unknownKeys],
    }),
    messageCount: t.int({
      nullable: true,
      description: 'Messages in the file as of its last save; null when it takes the whole file to know.',
      resolve: (row) => int32(row.storedMessageCount),
    }),
    title: t.exposeString('title', { nullable: true, description: 'As the file says.' }),
    hasManualTitle: t.boolean({ description: 'A person chose the title.', resolve: ({ manualTitle }) => manualTitle }),
    titleSource: t.field({ type: TitleSource, description: 'Who made the title.', resolve: resolve.titleSource }),
    layout: t.field({
      type: SidecarLayout,
      nullable: true,
      description: 'How the file is laid out; null when it is no session.',
      resolve: ({ layout }) => layout,
    }),
    workspace: t.exposeString('workspace', { nullable: true, description: 'The folder it works in.' }),
    createdWorkspace: t.exposeString('createdWorkspace', { nullable: true, description: 'The folder it began in.' }),
    model: t.exposeString('model', { nullable: true, description: 'As chosen in the Web UI.' }),
    provider: t.exposeString('modelProvider', { nullable: true, description: 'As chosen in the Web UI.' }),
    personality: t.exposeString('personality', { nullable: true, description: 'Its personality; null for none.' }),
    enabledToolsets: t.stringList({
      nullable: true,
      description: 'Its toolsets; null for those of the profile.',
      resolve: ({ enabledToolsets }) => (enabledToolsets === null ? null : [...enabledToolsets]),
    }),
    composerDraft: t.field({ type: Draft, description: 'What was typed and not sent.', resolve: ({ composerDraft }) => composerDraft }),
    worktree: t.field({
      type: Worktree,
      nullable: true,
      description: 'Its git worktree; null without one.',
      resolve: ({ worktree }) => worktree,
    }),
    context: t.field({ type: ContextType, description: 'How full its context is.', resolve: ({ context }) => context }),
    cacheHitPercent: t.float({
      nullable: true,
      description: '0 to 100; null when it can not be told.',
      resolve: ({ usage }) => usage.cacheHitPercent,
    }),
    usage: t.field({
      type: FileUsage,
      nullable: true,
      description: 'What its turns in the Web UI used; null when the file is no session.',
      resolve: (row) => (isNoSession(row) ? null : row.usage),
    }),
    compression: t.field({ type: Compression, description: 'Its last compression.', resolve: ({ compression }) => compression }),
    compressionRecovery: t.field({
      type: CompressionRecovery,
      description: 'What to do about an exhausted context.',
      resolve: ({ compressionRecovery }) => compressionRecovery,
    }),
    truncation: t.field({ type: Truncation, description: 'Where it was cut.', resolve: ({ truncation }) => truncation }),
    isCompressionSnapshot: t.exposeBoolean('isCompressionSnapshot', { description: 'An archived segment of a compressed conversation.' }),
    gatewayRouting: t.field({
      type: 'JSON',
      nullable: true,
      description: 'How its last turn was routed.',
      resolve: (row) => row.gatewayRouting,
    }),
    gatewayRoutingHistory: t.field({
      type: ['JSON'],
      description: 'The last 50 of these at most, oldest first.',
      resolve: (row) => [...row.gatewayRoutingHistory],
    }),
    wakeupPause: t.field({
      type: WakeupPause,
      nullable: true,
      description: 'The pause of automatic turns that is in force; null without one.',
      resolve: resolve.wakeupPauseOf,
    }),
    hasPendingMessage: t.boolean({ description: 'A prompt waits, or its turn is under way.', resolve: ({ pending }) => pending !== null }),
    hasShare: t.exposeBoolean('hasShare', { description: 'There is a link to it for others.' }),
    shareCreatedAt: t.field({ type: 'DateTime', nullable: true, description: 'Since when.', resolve: (row) => row.shareCreatedAt }),
    backup: t.field({
      type: Backup,
      nullable: true,
      description: 'The copy of an earlier state; null without one. Both files are read whole for it.',
      complexity: 20,
      resolve: resolve.backupOf,
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  sidecar: t.field({
    type: Sidecar,
    nullable: true,
    description: "What the Web UI's file says; null without a file.",
    complexity: 2,
    resolve: resolve.sidecarOf,
  }),
  provenance: t.field({
    type: Provenance,
    nullable: true,
    description: 'Where the values came from that the list of the Web UI shows; null where no Web UI knows it.',
    resolve: ({ beside }) => beside?.provenance ?? null,
  }),
  unlistedReason: t.field({
    type: UnlistedReason,
    nullable: true,
    description: "Why the Web UI's own list leaves it out; null where it shows it, or does not know it.",
    resolve: ({ beside }) => beside?.unlisted ?? null,
  }),
  rescued: t.boolean({
    description: 'A rule would hide it, but nothing else of its conversation is shown.',
    resolve: ({ beside }) => beside?.isRescued === true,
  }),
}));
