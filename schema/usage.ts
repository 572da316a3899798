import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/stores.ts';
import type { ModelUsage, UsageBucket, UsageFigures } from '../src/state-db/usage.ts';
import { builder } from './builder.ts';

export const Usage = builder.objectRef<UsageFigures>('Usage').implement({
  description: 'Tokens and money. Null money is unknown, 0 is a value; an estimate is no bill.',
  fields: (t) => ({
    inputTokens: t.exposeFloat('inputTokens', { nullable: true, description: 'Tokens.' }),
    outputTokens: t.exposeFloat('outputTokens', { nullable: true, description: 'Tokens.' }),
    cacheReadTokens: t.exposeFloat('cacheReadTokens', { nullable: true, description: 'Tokens.' }),
    cacheWriteTokens: t.exposeFloat('cacheWriteTokens', { nullable: true, description: 'Tokens.' }),
    reasoningTokens: t.exposeFloat('reasoningTokens', { nullable: true, description: 'Tokens.' }),
    apiCalls: t.int({ nullable: true, description: 'Calls of the provider.', resolve: (usage) => int32(usage.apiCalls) }),
    estimatedCostUsd: t.exposeFloat('estimatedCostUsd', { nullable: true, description: 'US dollars, estimated.' }),
    actualCostUsd: t.exposeFloat('actualCostUsd', { nullable: true, description: 'US dollars, as billed.' }),
    costStatus: t.exposeString('costStatus', {
      nullable: true,
      description: 'As stored, for example "estimated"; null where parts differ.',
    }),
  }),
});

export const ModelUsageType = builder.objectRef<ModelUsage>('ModelUsage').implement({
  description: 'Usage of one session by model, route and task.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'As recorded; "unknown" occurs.' }),
    provider: t.exposeString('provider', { description: 'Who is billed; "" when not recorded.' }),
    task: t.exposeString('task', {
      description: '"" is the conversation itself; everything else is auxiliary work, which session totals leave out.',
    }),
    usage: t.field({ type: Usage, description: 'The figures.', resolve: (row) => row }),
    firstSeenAt: t.field({ type: 'DateTime', nullable: true, description: 'First call.', resolve: (row) => row.firstSeenAt }),
    lastSeenAt: t.field({ type: 'DateTime', nullable: true, description: 'Last call.', resolve: (row) => row.lastSeenAt }),
  }),
});

const UsageDimension = builder.enumType('UsageDimension', {
  description: 'What usage can be grouped by.',
  values: {
    MODEL: { description: 'The model.' },
    PROVIDER: { description: 'Who is billed.' },
    SOURCE: { description: 'Where sessions run: cli, telegram, ...' },
    DAY: {
      description: "The writer's local day where the store counts days, else the UTC day of the session's start or the model's last call.",
    },
    PROFILE: { description: 'The profile.' },
    TASK: { description: '"" for conversations, else the auxiliary task.' },
  } as const,
});

const UsageFilter = builder.inputType('UsageFilter', {
  description: 'Which sessions are added up; all by default.',
  fields: (t) => ({
    since: t.field({ type: 'DateTime', description: 'Sessions started at or after.' }),
    before: t.field({ type: 'DateTime', description: 'Sessions started before.' }),
    sources: t.stringList({ description: 'Only these sources.' }),
    sessionId: t.string({ description: 'Only this stored session.' }),
  }),
});

const Bucket = builder.objectRef<UsageBucket>('UsageBucket').implement({
  description: 'One group.',
  fields: (t) => ({
    key: t.field({
      type: 'JSON',
      description: 'The value of each dimension by its lower-case name; a null model is usage that no model was recorded for.',
      resolve: (bucket) => bucket.key,
    }),
    sessions: t.exposeInt('sessions', { description: 'Sessions in the group.' }),
    sessionsWithoutCost: t.exposeInt('sessionsWithoutCost', {
      description: 'Those of them whose cost is unknown: they are missing in the sums of money.',
    }),
    usage: t.field({ type: Usage, description: 'Sums.', resolve: (bucket) => bucket.usage }),
  }),
});

builder.queryField('usage', (t) =>
  t.field({
    type: [Bucket],
    description:
      'Tokens and cost in groups. By MODEL, PROVIDER or TASK from the per-model records, auxiliary tasks included; otherwise from the totals of the sessions.',
    args: {
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      filter: t.arg({ type: UsageFilter, description: 'Which sessions.' }),
      groupBy: t.arg({ type: [UsageDimension], required: true, description: 'At least one dimension; each group names its values.' }),
    },
    complexity: { field: 200, multiplier: 10 },
    resolve: resolve.usage,
  }),
);
