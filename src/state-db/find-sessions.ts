/**
 * Conversations by their ids and titles, over every segment of a chain (`spec/state-db.md` 7.8).
 */
import type { Catalogue } from './catalogue.ts';
import type { ListItem } from './list-item.ts';
import type { SessionEntry } from './session-record.ts';

/** Conversations looked at for each that is asked for; search by id is for people who remember a recent one. */
const CANDIDATES_PER_RESULT = 4;

/**
 * Listed conversations with a segment whose id holds the text: equal ids first, then those that begin with it, then the others, each
 * group by activity. Archived ones too, hidden ones not.
 */
export function findById(catalogue: Catalogue, text: string, limit: number): ListItem[] {
  const wanted = text.toLowerCase();
  if (wanted.trim() === '') return [];
  const ordered = catalogue.ordered('RECENT_ACTIVITY', 'LINEAGE');
  const ranked: { item: ListItem; rank: number }[] = [];
  for (let index = 0; index < ordered.length && ranked.length < limit * CANDIDATES_PER_RESULT; index++) {
    const item = ordered.at(index);
    if (item === undefined || item.listClass !== 'LISTED' || item.root.hidden) continue;
    if (item.members.some((member) => idRank(member.id, wanted) !== null)) ranked.push({ item, rank: shownRank(item, wanted) });
  }
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.slice(0, limit).map(({ item }) => item);
}

/** Equal 0, beginning 1, inside 2, not at all null. */
function idRank(id: string, wanted: string): 0 | 1 | 2 | null {
  const at = id.toLowerCase().indexOf(wanted);
  if (at < 0) return null;
  return at > 0 ? 2 : id.length === wanted.length ? 0 : 1;
}

/** Only the ids that a person sees rank: the tip's and the first segment's. */
function shownRank(item: ListItem, wanted: string): number {
  return Math.min(idRank(item.tip.id, wanted) ?? 2, idRank(item.root.id, wanted) ?? 2);
}

const SEPARATORS = /[-_. ]/g;
const NOT_WORD = /[^\p{L}\p{M}\p{N}]/gu;

/**
 * Whether any of the sessions has the text in its title or id, letters of any case; the title is also compared without `-`, `_`, `.` and
 * spaces, with the text's word characters alone.
 */
export function titleOrIdTest(text: string): (members: readonly SessionEntry[]) => boolean {
  const wanted = text.toLowerCase();
  const compact = wanted.replace(NOT_WORD, '');
  const matches = ({ id, title }: SessionEntry) => {
    if (id.toLowerCase().includes(wanted)) return true;
    if (title === null) return false;
    const lower = title.toLowerCase();
    return lower.includes(wanted) || (compact !== '' && lower.replace(SEPARATORS, '').includes(compact));
  };
  return (members) => members.some(matches);
}

/** Whether the id of any of the sessions holds the text, letters of any case. */
export function idTest(text: string): (members: readonly SessionEntry[]) => boolean {
  const wanted = text.toLowerCase();
  return (members) => members.some(({ id }) => id.toLowerCase().includes(wanted));
}
