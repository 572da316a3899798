import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/sidecar.ts';
import type { ActivityScene } from '../src/web-ui/file-jobs.ts';
import { builder } from './builder.ts';
import { Sidecar } from './sidecar.ts';

const Mark = builder.objectRef<resolve.SceneMark>('ActivitySceneMark').implement({
  description: 'That a work log is stored.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'What `activityScenes` takes.' }),
    storedAt: t.field({ type: 'DateTime', nullable: true, description: 'When, if the file says.', resolve: ({ storedAt }) => storedAt }),
  }),
});

const Scene = builder.objectRef<ActivityScene>('ActivityScene').implement({
  description: 'The work log of a message: what the Web UI showed while the turn was under way.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its key.' }),
    messageIndex: t.int({
      nullable: true,
      description: 'The place of its message in the file when it was stored.',
      resolve: ({ messageIndex }) => int32(messageIndex),
    }),
    messageRef: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What its message is known by.',
      resolve: ({ messageRef }) => messageRef,
    }),
    streamId: t.exposeString('streamId', { nullable: true, description: 'The run that it is of.' }),
    updatedAt: t.field({ type: 'DateTime', nullable: true, description: 'When it was stored.', resolve: ({ updatedAt }) => updatedAt }),
    scene: t.field({ type: 'JSON', nullable: true, description: 'As the browser stored it.', resolve: ({ scene }) => scene }),
  }),
});

builder.objectFields(Sidecar, (t) => ({
  sceneIndex: t.field({
    type: [Mark],
    description: 'The work logs that the file has, newest first; cheap. Empty too where only the whole file would tell.',
    resolve: resolve.sceneIndex,
  }),
  activityScenes: t.field({
    type: [Scene],
    nullable: true,
    description: 'Work logs by their keys; those that are not there are left out. The whole file is read for it.',
    args: { keys: t.arg.stringList({ required: true, description: '1 to 20 keys of `sceneIndex`.' }) },
    complexity: 20,
    resolve: async (sidecar, args, ctx) => [...(await resolve.activityScenes(sidecar, args, ctx))],
  }),
}));
