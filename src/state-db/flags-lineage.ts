/**
 * The sessions that a flag of a conversation is written to: archived, pinned, hidden, read (`spec/state-db.md` 6.3, flags lineage).
 */
import type { LineageGraph, LineageNode } from './lineage.ts';

/**
 * s, its ancestors over parents that ended by compression, and its own descendants under such sessions. No marker is looked at: from a
 * root it reaches branches, resets and delegates under a compressed segment too; from a tip it reaches ancestors only.
 */
export function flagsLineage(graph: LineageGraph, start: LineageNode): string[] {
  const ids = new Set([start.id]);
  for (let current = start; current.parentId !== null; ) {
    const parent = graph.get(current.parentId);
    if (parent === undefined || ids.has(parent.id) || parent.endReason !== 'compression') break;
    ids.add(parent.id);
    current = parent;
  }
  const below: LineageNode[] = [start];
  const visited = new Set([start.id]);
  for (let index = 0; index < below.length; index++) {
    const node = below[index];
    if (node === undefined || node.endReason !== 'compression') continue;
    for (const child of graph.children(node.id)) {
      if (visited.has(child.id)) continue;
      visited.add(child.id);
      ids.add(child.id);
      below.push(child);
    }
  }
  return [...ids];
}
