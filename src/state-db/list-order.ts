/**
 * The orders of a session list and the keys that a cursor holds (`spec/state-db.md` 7.3). Unknown values come last.
 */
import { descending } from './lineage.ts';

export type SessionOrder = 'RECENT_ACTIVITY' | 'STARTED' | 'PINNED_THEN_RECENT' | 'TITLE';

/** What an order looks at; `id` is the first segment's and makes every key unique. */
export interface OrderKey {
  readonly id: string;
  readonly recency: number | null;
  readonly startedAt: number | null;
  readonly pinned: boolean;
  readonly title: string | null;
}

type Compare = (a: OrderKey, b: OrderKey) => number;

const byId: Compare = (a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
const byActivity: Compare = (a, b) => descending(a.recency, b.recency) || descending(a.startedAt, b.startedAt) || byId(a, b);
const byStart: Compare = (a, b) => descending(a.startedAt, b.startedAt) || byId(a, b);
const byTitle: Compare = (a, b) => {
  if (a.title === b.title) return byActivity(a, b);
  if (a.title === null) return 1;
  if (b.title === null) return -1;
  return a.title < b.title ? -1 : 1;
};

export const COMPARE: Readonly<Record<SessionOrder, Compare>> = {
  RECENT_ACTIVITY: byActivity,
  STARTED: byStart,
  PINNED_THEN_RECENT: (a, b) => Number(b.pinned) - Number(a.pinned) || byActivity(a, b),
  TITLE: byTitle,
};
