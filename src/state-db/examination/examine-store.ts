/** The examination of a store that can be read, as a job for another process: see `src/doctor/`. Nothing is written. */
import type { StoreConnection } from '../connection.ts';
import { FTS_TABLES, INDEX_NAMES } from '../repair/fts-tables.ts';
import { TRIGGERS_SQL, triggerNames } from '../repair/fts-triggers.ts';
import { type IndexState, readIndexState, searchProblem } from '../search/index-state.ts';
import { type DeepFacts, deepFacts } from './deep-facts.ts';
import { type RowFacts, rowFacts } from './row-facts.ts';

export type { DeepFacts, RowFacts };

export interface IndexFacts {
  readonly problem: IndexState['unusable'] | 'REBUILDING';
  /** Of indexes that are there. */
  readonly missingTriggers: readonly string[];
}

export interface StoreExamination {
  readonly index: IndexFacts;
  readonly rows: RowFacts;
  /** Null unless it was asked for. */
  readonly deep: DeepFacts | null;
}

export function examineStore(connection: StoreConnection, deep: boolean): StoreExamination {
  return { index: indexFacts(connection), rows: rowFacts(connection), deep: deep ? deepFacts(connection) : null };
}

function indexFacts(connection: StoreConnection): IndexFacts {
  const triggers = new Set(connection.all(TRIGGERS_SQL).map(({ name }) => String(name)));
  const present = INDEX_NAMES.filter((name) => connection.shape.hasTable(FTS_TABLES[name]));
  return {
    problem: searchProblem(connection, readIndexState(connection)),
    missingTriggers: present.flatMap(triggerNames).filter((name) => !triggers.has(name)),
  };
}
