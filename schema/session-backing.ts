import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/session-backing.ts';
import type { Claim } from '../src/state-db/beside.ts';
import type { WorkspaceBinding } from '../src/web-ui/list/workspace-binding.ts';
import { builder } from './builder.ts';
import { Session } from './session.ts';
import { TombstoneKind } from './upkeep.ts';

const ClaimRefusal = builder.enumType('ClaimRefusal', {
  description: 'Why a session may not be taken into the Web UI.',
  values: {
    READ_ONLY: { description: 'It is only shown there.' },
    MESSAGING: { description: 'It is a chat of a messenger.' },
    SOURCE: { description: 'The Web UI takes none of this source: cron runs, sub-agents, other programs.' },
    NOT_FOUND: { description: 'It was deleted in the Web UI, or there is no message to take.' },
  } as const,
});

const ClaimType = builder.objectRef<Claim>('SessionClaim').implement({
  description: 'Whether a session may be taken into the Web UI.',
  fields: (t) => ({
    ok: t.exposeBoolean('ok', { description: 'It may; of one that has a file there: it may be written to.' }),
    reason: t.field({ type: ClaimRefusal, nullable: true, description: 'Why not; null when it may.', resolve: ({ reason }) => reason }),
  }),
});

const Backing = builder.objectRef<resolve.Backing>('SessionBacking').implement({
  description: 'Where a session stands and how much of it, as lists know it. Nothing is read for it.',
  fields: (t) => ({
    sidecar: t.exposeBoolean('sidecar', { description: 'The Web UI has a file of it.' }),
    sidecarMessages: t.int({
      nullable: true,
      description: 'Messages in the file as of its last save; null without one, and when it takes the whole file to know.',
      resolve: ({ sidecarMessages }) => int32(sidecarMessages),
    }),
    stateDbRow: t.exposeBoolean('stateDbRow', { description: 'state.db has it.' }),
    stateDbMessages: t.int({
      nullable: true,
      description: 'Its rows of any state in state.db; null when it is not there, or its rows can not be read.',
      resolve: ({ stateDbMessages }) => int32(stateDbMessages),
    }),
    tombstones: t.field({
      type: [TombstoneKind],
      description: "Which of the Web UI's lists of gone sessions name it.",
      resolve: ({ tombstones }) => [...tombstones],
    }),
  }),
});

const WorkspaceState = builder.enumType('WorkspaceState', {
  description: "How a session's folder is.",
  values: {
    OK: { description: 'It is there and may be used.' },
    MISSING: { description: 'It is not there, or the session names none.' },
    UNTRUSTED: {
      description:
        'It is neither below the home of the user nor among the saved folders of the Web UI, or is no folder that can be looked at.',
    },
    REMOTE: { description: "The profile's commands run elsewhere: the path can not be looked at here." },
  } as const,
});

const Binding = builder.objectRef<WorkspaceBinding>('WorkspaceBinding').implement({
  description: 'The folder that a session of the Web UI works in, as the Web UI would resolve it. Looked at now; nothing is written.',
  fields: (t) => ({
    stored: t.exposeString('stored', { nullable: true, description: 'As the file says.' }),
    resolved: t.exposeString('resolved', {
      nullable: true,
      description: 'Where it would work: the stored folder, or the last one of the profile in place of one that is gone; null for nowhere.',
    }),
    state: t.field({ type: WorkspaceState, description: 'How the stored folder is.', resolve: ({ state }) => state }),
    recovered: t.exposeBoolean('recovered', { description: 'Another folder stands in for the stored one.' }),
  }),
});

builder.objectFields(Session, (t) => ({
  backing: t.field({ type: Backing, description: 'Where it stands and how much of it.', resolve: resolve.backing }),
  claimable: t.field({
    type: ClaimType,
    nullable: true,
    description: 'Whether its conversation may be gone on with in the Web UI, and why not; null where no Web UI knows it.',
    resolve: resolve.claim,
  }),
  workspaceBinding: t.field({
    type: Binding,
    nullable: true,
    description:
      'The folder of a session in the Web UI, and whether it can be used; of one without a file the last folder of the profile. Null where no Web UI knows it.',
    complexity: 20,
    resolve: resolve.workspaceBinding,
  }),
}));
