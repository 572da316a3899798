/**
 * Where this server answers otherwise than upstream on purpose. The table of `docs/deviations.md` is the only list: which cases each
 * deviation covers is read from there, and the tests fail when a count differs from what they see.
 */
import { readFileSync } from 'node:fs';

export interface Deviation {
  readonly id: string;
  /** Cases by golden file and store, as in `titles` -> `basic` -> 2. */
  readonly cases: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly upstream: string;
  readonly ours: string;
  readonly rule: string;
}

const DOCUMENT = new URL('../../docs/deviations.md', import.meta.url);
const ROW = /^\| `([a-z0-9-]+)` *\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$/;

/** The rows of the table. Throws for a row that isn't understood. */
export function loadDeviations(): Deviation[] {
  const lines = readFileSync(DOCUMENT, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('| `')).map(parseRow);
}

function parseRow(line: string): Deviation {
  const [, id, cases, upstream, ours, rule] = ROW.exec(line) ?? [];
  if (id === undefined || cases === undefined || upstream === undefined || ours === undefined || rule === undefined) {
    throw new Error(`docs/deviations.md: not a row of the table: ${line}`);
  }
  return { id, cases: parseCases(cases), upstream, ours, rule };
}

/** `titles: basic 2, lineage 1; export: hostile 3`. */
function parseCases(text: string): Map<string, Map<string, number>> {
  return new Map(
    text.split(';').map((part) => {
      const [kind, stores] = part.split(':');
      if (kind === undefined || stores === undefined) throw new Error(`docs/deviations.md: not a list of cases: ${text}`);
      return [kind.trim(), new Map(stores.split(',').map(parseCount))];
    }),
  );
}

function parseCount(text: string): [string, number] {
  const [, store, count] = /^\s*([a-z0-9-]+) (\d+)\s*$/.exec(text) ?? [];
  if (store === undefined || count === undefined) throw new Error(`docs/deviations.md: not a store and its number of cases: ${text}`);
  return [store, Number(count)];
}

/** What the document says of one golden file of one store: the number of cases by deviation. */
export function documentedCases(kind: string, store: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { id, cases } of loadDeviations()) {
    const count = cases.get(kind)?.get(store);
    if (count !== undefined) counts[id] = count;
  }
  return counts;
}
