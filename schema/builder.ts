/**
 * The schema builder: context, scalars, and how fields are priced.
 */
import SchemaBuilder from '@pothos/core';
import ComplexityPlugin, { ComplexityErrorKind } from '@pothos/plugin-complexity';
import { GraphQLError } from 'graphql';
import type { Context } from '../resolvers/context.ts';
import { DEFAULT_PAGE, LARGEST_PAGE } from '../src/paging.ts';

export interface SchemaTypes {
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    /** Epoch seconds inside, ISO 8601 outside. */
    DateTime: { Input: number; Output: number };
    JSON: { Input: unknown; Output: unknown };
    LiveCursor: { Input: string; Output: string };
  };
}

const SETTING = {
  [ComplexityErrorKind.Complexity]: '--max-cost',
  [ComplexityErrorKind.Depth]: '--max-depth',
  [ComplexityErrorKind.Breadth]: '--max-cost',
};

export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ComplexityPlugin],
  defaultFieldNullability: false,
  complexity: {
    defaultComplexity: 1,
    // Lists that are no connections are short by nature: parts, calls, children, edges.
    defaultListMultiplier: 5,
    limit: (ctx) => ({ complexity: ctx.services.limits.maxCost, depth: ctx.services.limits.maxDepth }),
    complexityError: (kind, result) => {
      const [found, limit] =
        kind === ComplexityErrorKind.Depth ? [result.depth, result.maxDepth] : [result.complexity, result.maxComplexity];
      const what = kind === ComplexityErrorKind.Depth ? 'nests too deep' : 'costs too much';
      return new GraphQLError(
        `The operation ${what}: ${found}, and ${limit} is the limit. Ask for less at once, or raise ${SETTING[kind]}.`,
        {
          extensions: { code: kind === ComplexityErrorKind.Depth ? 'TOO_DEEP' : 'TOO_EXPENSIVE', found, limit, setting: SETTING[kind] },
        },
      );
    },
  },
});

/** The price of a page: what one item costs, times the size of the page. A size that is refused anyway has the price of the largest. */
export function pageComplexity(args: object): { field: number; multiplier: number } {
  const { first, last } = args as { first?: number | null; last?: number | null };
  return { field: 2, multiplier: Math.min(LARGEST_PAGE, Math.max(1, first ?? last ?? DEFAULT_PAGE)) };
}

/** The builder's own types, with the defaults of Pothos filled in. */
export type Types = typeof builder.$inferSchemaTypes;
