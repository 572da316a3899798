/**
 * Where this server answers otherwise than upstream on purpose. The first table of `docs/deviations.md` is the only list: which cases each
 * deviation covers is read from there, and the tests fail when a count differs from what they see. The second table is of what no recorded
 * answer shows; each of its rows names the test that does.
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

/** A decision about writing. */
export interface WritingDeviation {
  readonly id: string;
  readonly upstream: string;
  readonly ours: string;
  readonly rule: string;
  /** A file below `test/`, and what the name of the test there begins with, or has in it. */
  readonly test: { readonly file: string; readonly name: string };
}

const DOCUMENT = new URL('../../docs/deviations.md', import.meta.url);
const ROW = /^\| `([a-z0-9-]+)` *\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$/;

const WRITING_HEADING = '\n## Writing';
const TEST = /^`([\w./-]+)`, "([^"]+)"$/;

/** The rows of the first table. Throws for a row that isn't understood. */
export function loadDeviations(): Deviation[] {
  return rowsOf('ANSWERS').map((line) => {
    const [id, cases, upstream, ours, rule] = cells(line);
    return { id, cases: parseCases(cases), upstream, ours, rule };
  });
}

/** The rows of the second table. Throws for a row that isn't understood. */
export function loadWritingDeviations(): WritingDeviation[] {
  return rowsOf('WRITING').map((line) => {
    const [id, upstream, ours, rule, test] = cells(line);
    const [, file, name] = TEST.exec(test.trim()) ?? [];
    if (file === undefined || name === undefined) throw new Error(`docs/deviations.md: not a test and its name: ${line}`);
    return { id, upstream, ours, rule, test: { file, name } };
  });
}

function rowsOf(table: 'ANSWERS' | 'WRITING'): string[] {
  const [answers = '', writing = ''] = readFileSync(DOCUMENT, 'utf8').split(WRITING_HEADING);
  return (table === 'ANSWERS' ? answers : writing).split('\n').filter((line) => line.startsWith('| `'));
}

function cells(line: string): [string, string, string, string, string] {
  const [, first, second, third, fourth, fifth] = ROW.exec(line) ?? [];
  if (first === undefined || second === undefined || third === undefined || fourth === undefined || fifth === undefined) {
    throw new Error(`docs/deviations.md: not a row of the table: ${line}`);
  }
  return [first, second, third, fourth, fifth];
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
