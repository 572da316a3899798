/**
 * Nodes by their global ids; what is no id of ours, or of something that is gone, is null.
 */
import { InvalidInput } from '../src/errors.ts';
import type { StoredMessage, StoredSession } from '../src/session-store.ts';
import type { OwnedProject } from '../src/web-ui/projects/owned-projects.ts';
import type { Context } from './context.ts';
import { decodeNodeId, type NodeType } from './global-id.ts';
import { unlessGone } from './lost-files.ts';
import { fileMessage } from './opened.ts';
import type { Profile } from './stores.ts';

export type Node =
  | ({ readonly nodeType: 'Session' } & StoredSession)
  | ({ readonly nodeType: 'Message' } & StoredMessage)
  | ({ readonly nodeType: 'Profile' } & Profile)
  | ({ readonly nodeType: 'Project' } & OwnedProject);

export async function node(_: unknown, args: { id: string }, ctx: Context): Promise<Node | null> {
  const key = decodeNodeId(args.id);
  if (key === null || !(await ctx.services.profiles.names()).includes(key.profile)) return null;
  await ctx.store(key.profile);
  const loaders = ctx.loaders(key.profile);
  if (key.type === 'Profile') return { nodeType: 'Profile', name: key.profile };
  if (key.type === 'Project') return tagged('Project', await loaders.project.load(key.id));
  if (key.type === 'Session') return tagged('Session', unlessGone(await loaders.session.load(key.id)));
  const message = /^\d{1,19}$/.test(key.id) ? await loaders.message.load(key.id) : await fileMessage(key.id, key.profile, ctx);
  return tagged('Message', message);
}

const MOST_NODES = 200;

export async function nodes(parent: unknown, args: { ids: readonly string[] }, ctx: Context): Promise<(Node | null)[]> {
  if (args.ids.length > MOST_NODES) throw new InvalidInput(`ids may name at most ${MOST_NODES} nodes; it named ${args.ids.length}.`);
  return Promise.all(args.ids.map((id) => node(parent, { id }, ctx)));
}

function tagged<T extends NodeType, V extends object>(nodeType: T, value: V | null): ({ readonly nodeType: T } & V) | null {
  return value === null ? null : { ...value, nodeType };
}
