/**
 * The boolean form of a substring search (`spec/state-db.md` 10.6): groups joined by OR, terms of a group joined by AND.
 */
import { tokens } from './sanitize.ts';

export interface LikeTerm {
  readonly text: string;
  readonly negated: boolean;
}

export type LikeGroup = readonly LikeTerm[];

/** Groups that have at least one positive term; an empty list finds nothing. */
export function likeGroups(query: string): LikeGroup[] {
  const groups: LikeTerm[][] = [[]];
  let negated = false;
  for (const token of tokens(query)) {
    const operator = token.toUpperCase();
    if (operator === 'OR') {
      groups.push([]);
      negated = false;
    } else if (operator === 'NOT') {
      negated = true;
    } else if (operator !== 'AND' && operator !== 'NEAR') {
      const text = term(token);
      if (text !== '') groups.at(-1)?.push({ text, negated });
      negated = false;
    }
  }
  return groups.filter((group) => group.some((part) => !part.negated));
}

function term(token: string): string {
  const bare = token.startsWith('"') ? token.replaceAll('"', '') : token;
  return bare.replace(/^\*+|\*+$/g, '');
}

/** A LIKE pattern that finds the text itself anywhere, with `\` as the escape character. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
