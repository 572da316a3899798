/**
 * The whole family of a session as nodes and edges, what is wrong with it, and its picture as a Mermaid flowchart (`spec/state-db.md` 6).
 */
import { chain, type EdgeKind, edgeKind, isChainEdge, type LineageGraph, type LineageNode, parentWalk } from './lineage.ts';

export interface FamilyEdge {
  readonly parentSessionId: string;
  readonly childSessionId: string;
  readonly kind: EdgeKind;
}

export interface FamilyProblem {
  readonly code: 'MISSING_PARENT' | 'CYCLE' | 'SEVERAL_LIVE_HEADS' | 'COMPRESSION_WITHOUT_CHILD' | 'EMPTY_CONTINUATION' | 'TRUNCATED';
  readonly message: string;
  readonly sessionIds: readonly string[];
}

export interface Family<N extends LineageNode> {
  /** Breadth first from the top; a family over the limit is cut and says so. */
  readonly nodes: readonly N[];
  readonly edges: readonly FamilyEdge[];
  readonly problems: readonly FamilyProblem[];
}

/** Sessions that one answer shows; a real family is rarely over a hundred. */
export const FAMILY_LIMIT = 2000;

/** Everyone who is related to s by parent pointers, up and down, with the kinds of the edges and the problems found. */
export function family<N extends LineageNode>(graph: LineageGraph<N>, start: N, rowCount: (node: N) => number | null): Family<N> {
  const top = topOf(graph, start);
  const nodes = [top];
  const edges: FamilyEdge[] = [];
  const seen = new Set([top.id]);
  let truncated = false;
  for (let index = 0; index < nodes.length; index++) {
    const parent = nodes[index];
    if (parent === undefined) break;
    for (const child of graph.children(parent.id)) {
      if (!seen.has(child.id) && nodes.length >= FAMILY_LIMIT) {
        truncated = true;
        continue;
      }
      edges.push({ parentSessionId: parent.id, childSessionId: child.id, kind: edgeKind(child, parent) ?? 'UNKNOWN' });
      if (seen.has(child.id)) continue;
      seen.add(child.id);
      nodes.push(child);
    }
  }
  return {
    nodes,
    edges,
    problems: [
      ...structuralProblems(graph, nodes, edges),
      ...chainProblems(graph, nodes, rowCount),
      ...(truncated ? [tooLarge(top.id)] : []),
    ],
  };
}

/** The first existing row of the parent walk; inside a loop, the member with the smallest id, so that every member has one answer. */
function topOf<N extends LineageNode>(graph: LineageGraph<N>, start: N): N {
  const walk = parentWalk(graph, start);
  const last = graph.get(walk.at(-1) ?? start.id) ?? graph.get(walk.at(-2) ?? start.id) ?? start;
  const loop = loopThrough(graph, last);
  if (loop.length === 0) return last;
  return graph.get([...loop].sort()[0] ?? last.id) ?? last;
}

function loopThrough(graph: LineageGraph, start: LineageNode): string[] {
  const ids = [start.id];
  for (let current: LineageNode | undefined = start; current !== undefined && current.parentId !== null; ) {
    if (current.parentId === start.id) return ids;
    if (ids.includes(current.parentId) || ids.length > FAMILY_LIMIT) return [];
    ids.push(current.parentId);
    current = graph.get(current.parentId);
  }
  return [];
}

function structuralProblems<N extends LineageNode>(
  graph: LineageGraph<N>,
  nodes: readonly N[],
  edges: readonly FamilyEdge[],
): FamilyProblem[] {
  const problems: FamilyProblem[] = [];
  for (const node of nodes) {
    if (node.parentId !== null && graph.get(node.parentId) === undefined) {
      problems.push({
        code: 'MISSING_PARENT',
        message: `${node.id} names a parent that does not exist: ${node.parentId}.`,
        sessionIds: [node.id],
      });
    }
  }
  const first = nodes[0];
  if (first !== undefined && edges.some((edge) => edge.childSessionId === first.id)) {
    const loop = loopThrough(graph, first);
    problems.push({ code: 'CYCLE', message: `The parents of ${loop.join(', ')} form a loop.`, sessionIds: loop });
  }
  return problems;
}

function chainProblems<N extends LineageNode>(
  graph: LineageGraph<N>,
  nodes: readonly N[],
  rowCount: (node: N) => number | null,
): FamilyProblem[] {
  const problems: FamilyProblem[] = [];
  for (const node of nodes) {
    if (node.endReason !== 'compression') continue;
    const continuations = graph.children(node.id).filter((child) => isChainEdge(node, child));
    const live = continuations.filter((child) => child.endedAt === null);
    if (continuations.length === 0) {
      problems.push({
        code: 'COMPRESSION_WITHOUT_CHILD',
        message: `${node.id} was ended by compression, but no session continues it.`,
        sessionIds: [node.id],
      });
    }
    if (live.length > 1) {
      problems.push({
        code: 'SEVERAL_LIVE_HEADS',
        message: `${node.id} is continued by ${live.length} open sessions.`,
        sessionIds: live.map(({ id }) => id),
      });
    }
    const next = chain(graph, node)[1];
    if (next !== undefined && next.endedAt === null && rowCount(next) === 0) {
      problems.push({
        code: 'EMPTY_CONTINUATION',
        message: `${next.id} continues ${node.id} but has no messages yet.`,
        sessionIds: [next.id],
      });
    }
  }
  return problems;
}

function tooLarge(id: string): FamilyProblem {
  return { code: 'TRUNCATED', message: `Only the first ${FAMILY_LIMIT} sessions of this family are shown.`, sessionIds: [id] };
}

// ---------------------------------------------------------------- Mermaid

const ARROWS: Record<EdgeKind, string> = {
  COMPRESSION: '==>|compression|',
  BRANCH: '-->|branch|',
  RESET: '-.->|reset|',
  DELEGATE: '-->|delegate|',
  TOOL: '-->|tool|',
  UNKNOWN: '-.->|unknown|',
};

/**
 * A Mermaid flowchart. Ids and titles are hostile text: nodes are called n0, n1, ... and every label is a quoted string in which all but
 * letters, digits and a few harmless signs are written as numeric entities.
 */
export function mermaid(
  nodes: readonly { readonly id: string; readonly label: string; readonly live: boolean }[],
  edges: readonly FamilyEdge[],
): string {
  const names = new Map(nodes.map((node, index) => [node.id, `n${index}`]));
  const lines = ['flowchart TD'];
  for (const node of nodes) lines.push(`  ${names.get(node.id)}["${escapeLabel(node.label)}"]${node.live ? ':::open' : ''}`);
  for (const edge of edges) {
    const parent = names.get(edge.parentSessionId);
    const child = names.get(edge.childSessionId);
    if (parent !== undefined && child !== undefined) lines.push(`  ${parent} ${ARROWS[edge.kind]} ${child}`);
  }
  lines.push('  classDef open stroke-width:3px');
  return lines.join('\n');
}

function escapeLabel(text: string): string {
  const short = [...text].slice(0, 80).join('');
  return short.replace(/[^\p{L}\p{N} .,_-]/gu, (character) => `#${character.codePointAt(0) ?? 0};`);
}
