import type { FieldMap, InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import * as resolve from '../resolvers/maintenance.ts';
import type { JobState } from '../src/maintenance/maintenance.ts';
import type { RebuildReport } from '../src/state-db/repair/index-rebuild.ts';
import { builder, type Types } from './builder.ts';
import { mutation } from './mutation.ts';
import { clientMutationIdField, dryRunField, payloadFields, profileField } from './write-fields.ts';

const JobStateEnum = builder.enumType('JobState', {
  description: 'How far a job is.',
  values: {
    RUNNING: { description: 'It is under way.' },
    DONE: { description: 'It is over.' },
    FAILED: { description: 'It was refused or failed; `problem` says why.' },
  } as const,
});

const JobProgress = builder.objectRef<JobState>('JobProgress').implement({
  description: 'Long work on a store.',
  fields: (t) => ({
    jobId: t.exposeID('jobId', { description: 'Of the job; good until the server ends.' }),
    kind: t.exposeString('kind', { description: 'CHECK, REPAIR, REBUILD_INDEX or OPTIMIZE.' }),
    profile: t.exposeString('profile', { description: 'The profile whose store it is about.' }),
    state: t.field({ type: JobStateEnum, description: 'How far it is.', resolve: ({ state }) => state }),
    step: t.string({ nullable: true, description: 'What it does now.', resolve: ({ progress }) => progress?.step ?? null }),
    done: t.float({
      nullable: true,
      description: 'Parts that are done, where they are counted.',
      resolve: ({ progress }) => progress?.done ?? null,
    }),
    total: t.float({ nullable: true, description: 'Parts in all.', resolve: ({ progress }) => progress?.total ?? null }),
    startedAt: t.field({ type: 'DateTime', description: 'When it began.', resolve: ({ startedAt }) => startedAt }),
    finishedAt: t.field({ type: 'DateTime', nullable: true, description: 'When it was over.', resolve: ({ finishedAt }) => finishedAt }),
    problem: t.string({ nullable: true, description: 'Why it failed.', resolve: ({ error }) => error?.message ?? null }),
  }),
});

builder.queryField('job', (t) =>
  t.field({
    type: JobProgress,
    nullable: true,
    description: 'A job of this server; null for one that it does not know.',
    args: { jobId: t.arg.id({ required: true, description: 'Of the job.' }) },
    resolve: resolve.job,
  }),
);

builder.subscriptionField('jobProgress', (t) =>
  t.field({
    type: JobProgress,
    description: 'Progress of a long job: now, at every step, and at its end, with which the subscription ends.',
    args: { jobId: t.arg.id({ required: true, description: 'Of the job.' }) },
    subscribe: resolve.jobProgress,
    resolve: (state: JobState) => state,
  }),
);

type InputFields = InputFieldBuilder<Types, 'InputObject'>;

const jobInputFields = (t: InputFields) => ({
  profile: profileField(t),
  waitSeconds: t.float({ description: 'How long to wait for the end, 0 to 600; afterwards the job is followed by its id. Default: 25.' }),
  clientMutationId: clientMutationIdField(t),
});

function jobFields<Report>(t: ObjectFieldBuilder<Types, resolve.JobPayload<Report>>): FieldMap {
  return {
    ...payloadFields(t),
    job: t.field({
      type: JobProgress,
      description: 'The job. A second request for the same work gets the same one.',
      resolve: ({ job }) => job,
    }),
  };
}

mutation('checkStore', {
  description: 'Look for damage. Changes nothing; with `writeProbe` it also tries a write, which is always taken back.',
  input: builder.inputType('CheckStoreInput', {
    description: 'How thoroughly.',
    fields: (t) => ({
      ...jobInputFields(t),
      deep: t.boolean({ defaultValue: true, description: 'Read every page, which takes its time on a large store.' }),
      writeProbe: t.boolean({ defaultValue: false, description: 'Also try a write. Needs --allow-writes.' }),
    }),
  }),
  payload: builder.objectRef<resolve.CheckPayload>('CheckStorePayload').implement({
    description: 'What was found.',
    fields: (t) => ({
      ...jobFields(t),
      healthy: t.boolean({ nullable: true, description: 'Null while the job runs.', resolve: ({ report }) => report?.healthy ?? null }),
      problems: t.stringList({ description: 'At most three.', resolve: ({ report }) => [...(report?.problems ?? [])] }),
      structural: t.boolean({
        nullable: true,
        description: 'Rows or their tables are damaged, so that a new search index is no help.',
        resolve: ({ report }) => report?.structural ?? null,
      }),
      fingerprint: t.string({
        nullable: true,
        description: 'What `repairStore` has to be given.',
        resolve: ({ report }) => report?.fingerprint ?? null,
      }),
      advice: t.string({
        nullable: true,
        description: 'What to do where a repair can not help.',
        resolve: ({ report }) => report?.advice ?? null,
      }),
    }),
  }),
  refusals: [],
  resolve: resolve.checkStore,
});

mutation('repairStore', {
  description:
    'Mend a damaged store, with a copy of it first. Every other program has to be stopped; the store is mended on a copy and put back only when nothing of it is missing.',
  input: builder.inputType('RepairStoreInput', {
    description: 'Which damage.',
    fields: (t) => ({
      ...jobInputFields(t),
      confirmFingerprint: t.string({ required: true, description: 'As `checkStore` told it: the damage that you looked at.' }),
      backup: t.boolean({ defaultValue: true, description: 'Keep a copy of the damaged store beside it.' }),
    }),
  }),
  payload: builder.objectRef<resolve.RepairPayload>('RepairStorePayload').implement({
    description: 'What became of it.',
    fields: (t) => ({
      ...jobFields(t),
      repaired: t.boolean({ nullable: true, description: 'Null while the job runs.', resolve: ({ report }) => report?.repaired ?? null }),
      strategy: t.string({ nullable: true, description: 'What helped.', resolve: ({ report }) => report?.strategy ?? null }),
      backupName: t.string({
        nullable: true,
        description: 'The name of the copy, beside the store.',
        resolve: ({ report }) => report?.backupName ?? null,
      }),
      error: t.string({
        nullable: true,
        description: 'Why it is not repaired, and what is left to do.',
        resolve: ({ report }) => report?.error ?? null,
      }),
    }),
  }),
  refusals: ['FOREIGN_HOLDERS', 'REPAIR_EXHAUSTED', 'BACKUP_REFUSED', 'NO_SPACE', 'REPAIR_FAILED', 'CONFLICT'],
  resolve: resolve.repairStore,
});

const SearchIndexName = builder.enumType('SearchIndexName', {
  description: 'A full-text index.',
  values: {
    BASE: { description: 'Words.' },
    TRIGRAM: { description: 'Three characters and more.' },
    CJK: { description: 'Chinese, Japanese and Korean.' },
  } as const,
});

const SkippedIndex = builder.objectRef<RebuildReport['skipped'][number]>('SkippedIndex').implement({
  description: 'An index that was not rebuilt.',
  fields: (t) => ({
    table: t.field({ type: SearchIndexName, description: 'The index.', resolve: ({ table }) => table }),
    reason: t.exposeString('reason', { description: 'MISSING, TOKENIZER_MISSING, MIGRATING or DAMAGED.' }),
  }),
});

mutation('rebuildSearchIndex', {
  description: 'Make the full-text indexes anew from the rows. Other programs that have the store open have to be stopped first.',
  input: builder.inputType('RebuildSearchIndexInput', {
    description: 'Which indexes.',
    fields: (t) => ({
      ...jobInputFields(t),
      tables: t.field({ type: [SearchIndexName], description: 'Default: all that the store has.' }),
      dryRun: dryRunField(t),
    }),
  }),
  payload: builder.objectRef<resolve.RebuildPayload>('RebuildSearchIndexPayload').implement({
    description: 'What was rebuilt.',
    fields: (t) => ({
      ...jobFields(t),
      rebuilt: t.field({
        type: [SearchIndexName],
        description: 'In a dry run those that would be.',
        resolve: ({ report }) => [...(report?.rebuilt ?? [])],
      }),
      skipped: t.field({ type: [SkippedIndex], description: 'The others.', resolve: ({ report }) => [...(report?.skipped ?? [])] }),
      stale: t.boolean({
        nullable: true,
        description: 'Search still goes on without an index.',
        resolve: ({ report }) => report?.stale ?? null,
      }),
    }),
  }),
  refusals: ['FOREIGN_HOLDERS', 'REBUILD_COOLDOWN'],
  resolve: resolve.rebuildSearchIndex,
});

mutation('optimizeStore', {
  description: 'Pack a store: merge its indexes and give back the room of deleted rows. Nobody else may have it open.',
  input: builder.inputType('OptimizeStoreInput', {
    description: 'That you know what it takes.',
    fields: (t) => ({
      ...jobInputFields(t),
      confirmNoHolders: t.boolean({ required: true, description: 'Every other program that uses the store is stopped.' }),
    }),
  }),
  payload: builder.objectRef<resolve.OptimizePayload>('OptimizeStorePayload').implement({
    description: 'What it brought.',
    fields: (t) => ({
      ...jobFields(t),
      bytesBefore: t.float({
        nullable: true,
        description: 'Bytes of the store before.',
        resolve: ({ report }) => report?.bytesBefore ?? null,
      }),
      bytesAfter: t.float({ nullable: true, description: 'Bytes of the store now.', resolve: ({ report }) => report?.bytesAfter ?? null }),
    }),
  }),
  refusals: ['FOREIGN_HOLDERS', 'NO_SPACE'],
  resolve: resolve.optimizeStore,
});
