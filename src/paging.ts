/**
 * Page arguments of a Relay connection, validated once for every list.
 */
import { InvalidInput } from './errors.ts';

export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface PageRequest {
  readonly size: number;
  readonly direction: 'FORWARD' | 'BACKWARD';
  readonly after: string | null;
  readonly before: string | null;
  /** The items at the cursors themselves belong to the page; for lists that are put together from several. */
  readonly inclusive?: boolean;
}

export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 200;

/** `first` or `last` between 1 and 200, not both; without either the first 50 (the last 50 when only `before` is given). */
export function pageRequest(args: PageArguments, defaultDirection: PageRequest['direction'] = 'FORWARD'): PageRequest {
  const { first = null, last = null, after = null, before = null } = args;
  if (first !== null && last !== null) throw new InvalidInput('Give first or last, not both.');
  checkSize('first', first);
  checkSize('last', last);
  const direction =
    first !== null ? 'FORWARD' : last !== null ? 'BACKWARD' : before !== null ? 'BACKWARD' : after !== null ? 'FORWARD' : defaultDirection;
  return { size: first ?? last ?? DEFAULT_PAGE, direction, after, before };
}

function checkSize(name: string, size: number | null): void {
  if (size === null) return;
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    throw new InvalidInput(`${name} must be a whole number between 1 and ${LARGEST_PAGE}; it was ${size}.`, {
      argument: name,
      largest: LARGEST_PAGE,
    });
  }
}

export interface PageItem<T> {
  readonly cursor: string;
  readonly node: T;
}

/** An item whose cursor is made when it is asked for: most lists show nodes, and only the ends of a page need a cursor. */
export class LazyItem<T> implements PageItem<T> {
  readonly node: T;
  readonly #makeCursor: () => string;

  constructor(node: T, makeCursor: () => string) {
    this.node = node;
    this.#makeCursor = makeCursor;
  }

  get cursor(): string {
    return this.#makeCursor();
  }
}

/** The page with its nodes replaced; cursors stay as lazy as they are. */
export function mapNodes<T, U>(page: Page<T>, change: (node: T) => U): Page<U> {
  return { ...page, items: page.items.map((item) => new LazyItem(change(item.node), () => item.cursor)) };
}

/** The page as plain data, for another process. */
export function plainPage<T>(page: Page<T>): Page<T> {
  return { ...page, items: page.items.map(({ cursor, node }) => ({ cursor, node })) };
}

export interface Page<T> {
  readonly items: readonly PageItem<T>[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}
