import { encodeNodeId, type NodeType } from '../resolvers/global-id.ts';
import * as resolve from '../resolvers/nodes.ts';
import { builder } from './builder.ts';

export const Node = builder.interfaceRef<object>('Node').implement({
  description: 'Something with an id that is unique among everything this server serves.',
  fields: (t) => ({ id: t.id({ description: 'Global id, opaque.', resolve: () => '' }) }),
  resolveType: (value) => (value as { nodeType?: NodeType }).nodeType ?? null,
});

/** The id field of a node type; every node has its own. */
export function nodeId(type: NodeType, parent: { readonly profile: string }, id: string): string {
  return encodeNodeId(type, parent.profile, id);
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'A node by its global id; null for an unknown one.',
    args: { id: t.arg.id({ required: true, description: 'As given by the field `id`.' }) },
    resolve: resolve.node,
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: 'Nodes in the order of the ids, at most 200; null for unknown ones.',
    args: { ids: t.arg.idList({ required: true, description: 'As given by the field `id`.' }) },
    complexity: (args) => ({ field: 1, multiplier: Math.max(1, args.ids.length) }),
    resolve: resolve.nodes,
  }),
}));
