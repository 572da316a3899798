/**
 * Global ids of nodes: the type, the profile, and the store's own id, in base64url.
 */

export type NodeType = 'Session' | 'Message' | 'Profile' | 'Project';

export interface NodeKey {
  readonly type: NodeType;
  readonly profile: string;
  /** Session id, row id, project id; '' for a profile. */
  readonly id: string;
}

const TYPES: ReadonlySet<string> = new Set<NodeType>(['Session', 'Message', 'Profile', 'Project']);
const LONGEST = 4096;

export function encodeNodeId(type: NodeType, profile: string, id: string): string {
  return Buffer.from(`${type}:${profile}/${id}`).toString('base64url');
}

/** Null for what was not made by `encodeNodeId`. A profile's name holds no slash, so a session id may hold anything. */
export function decodeNodeId(text: string): NodeKey | null {
  if (text.length > LONGEST || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  const raw = Buffer.from(text, 'base64url').toString('utf8');
  const colon = raw.indexOf(':');
  const slash = raw.indexOf('/', colon + 1);
  const type = raw.slice(0, colon);
  if (colon === -1 || slash === -1 || !TYPES.has(type)) return null;
  return { type: type as NodeType, profile: raw.slice(colon + 1, slash), id: raw.slice(slash + 1) };
}
