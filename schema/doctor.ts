import * as resolve from '../resolvers/doctor.ts';
import { int32 } from '../resolvers/numbers.ts';
import { builder } from './builder.ts';

const Finding = builder.objectRef<resolve.Finding>('Finding').implement({
  description: 'One thing that is wrong.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs; docs/doctor.md lists all.' }),
    severity: t.exposeString('severity', {
      description: 'ERROR: something is lost or can not be used. WARNING: something will be, or a person has to look. INFO: worth knowing.',
    }),
    area: t.exposeString('area', {
      description: 'STORE, INDEX, ROWS, LEASES, FILES, JOURNALS, SPOOL, LEFTOVERS, MACHINE or DOCTOR.',
    }),
    message: t.exposeString('message', { description: 'What it is and what to do, for people.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The session, file, run or key it is about; null: the whole.' }),
    count: t.int({ nullable: true, description: 'How many it stands for.', resolve: ({ count }) => int32(count) }),
    remedy: t.exposeString('remedy', {
      nullable: true,
      description: 'The mutation that mends it, with its arguments, a dry run where there is one; null where none helps.',
    }),
  }),
});

const CheckRun = builder.objectRef<resolve.CheckRun>('DoctorCheck').implement({
  description: 'A check that was made, or was not.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    area: t.exposeString('area', { description: 'As that of its findings.' }),
    state: t.exposeString('state', {
      description: 'DONE, FAILED, TIMED_OUT, or SKIPPED: only a deep look makes it, or the store can not be read.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'Milliseconds until it was over; checks run side by side.' }),
  }),
});

const DoctorReport = builder.objectRef<resolve.DoctorReport>('DoctorReport').implement({
  description: 'The state of a profile: its store, and the files beside it.',
  fields: (t) => ({
    profile: t.exposeString('profile', { description: 'Which profile.' }),
    deep: t.exposeBoolean('deep', { description: 'Everything was read.' }),
    healthy: t.exposeBoolean('healthy', { description: 'Nothing worse than INFO was found.' }),
    findings: t.field({ type: [Finding], description: 'The worst first.', resolve: ({ findings }) => [...findings] }),
    checks: t.field({ type: [CheckRun], description: 'What was looked at.', resolve: ({ checks }) => [...checks] }),
    checkedAt: t.field({ type: 'DateTime', description: 'When it began.', resolve: ({ checkedAt }) => checkedAt }),
  }),
});

builder.queryField('doctor', (t) =>
  t.field({
    type: DoctorReport,
    description: 'What is wrong with a store and its files, and which mutation mends it. Changes nothing.',
    complexity: 50,
    args: {
      profile: t.arg.string({ description: 'Default: the profile that this server was started for.' }),
      deep: t.arg.boolean({
        defaultValue: false,
        description: 'Also read every page of the store, every session file, backup and journal: minutes on a large home.',
      }),
    },
    resolve: resolve.doctor,
  }),
);
