/** A store for one case of `spec/state-db.md` 17, opened as the server does, with what the server keeps of it. */
import { Catalogue } from '../../src/state-db/catalogue.ts';
import { CatalogueSync } from '../../src/state-db/catalogue-sync.ts';
import { StoreConnection } from '../../src/state-db/connection.ts';
import type { LineageCollapse, ListItem } from '../../src/state-db/list-item.ts';
import type { SessionOrder } from '../../src/state-db/list-order.ts';
import { listPage, type SessionFilter } from '../../src/state-db/listing.ts';
import type { SessionEntry } from '../../src/state-db/session-record.ts';
import type { StateDbStore } from '../../src/state-db/store.ts';
import type { MessageView } from '../../src/state-db/visibility.ts';
import { openStore } from '../support/open-store.ts';
import { buildStore, type Row, type StoreSpec } from '../support/stores.ts';

/** The clock of the cases: epoch seconds. */
export const NOW = 1000;

const FIRST_PAGE = { size: 200, direction: 'FORWARD', after: null, before: null } as const;

export class CaseStore {
  readonly path: string;
  readonly store: StateDbStore;
  readonly connection: StoreConnection;
  readonly catalogue: Catalogue;

  private constructor(path: string, store: StateDbStore, connection: StoreConnection, catalogue: Catalogue) {
    this.path = path;
    this.store = store;
    this.connection = connection;
    this.catalogue = catalogue;
  }

  static async open(spec: StoreSpec | readonly Row[]): Promise<CaseStore> {
    const path = buildStore('rows' in spec || !Array.isArray(spec) ? (spec as StoreSpec) : { rows: spec as readonly Row[] });
    const connection = StoreConnection.open(path, { lockWaitMs: 1000 });
    const catalogue = new Catalogue();
    await new CatalogueSync(connection, catalogue).build();
    return new CaseStore(path, openStore(path, { now: () => NOW }), connection, catalogue);
  }

  entry(id: string): SessionEntry {
    const entry = this.catalogue.get(id);
    if (entry === undefined) throw new Error(`no session ${id}`);
    return entry;
  }

  /** Items of the first page; sessions without messages too, since few cases have any. */
  items(filter: SessionFilter = {}, order: SessionOrder = 'RECENT_ACTIVITY', collapse: LineageCollapse = 'LINEAGE'): ListItem[] {
    const query = { filter: { includeEmpty: true, ...filter }, order, collapse };
    return listPage(this.catalogue, query, FIRST_PAGE, 'case').items.map(({ node }) => node);
  }

  /** Ids of the sessions that stand for the entries of a list, as the store gives them. */
  async list(filter: SessionFilter = {}, order: SessionOrder = 'RECENT_ACTIVITY'): Promise<string[]> {
    const page = await this.store.list({ filter: { includeEmpty: true, ...filter }, order, collapse: 'LINEAGE' }, FIRST_PAGE);
    return page.items.map(({ node }) => node.id);
  }

  /** Row ids of a view of one session. */
  async rows(sessionId: string, view: MessageView): Promise<number[]> {
    const [page] = await this.store.messagePages([{ sessionId, view, scope: 'SEGMENT', page: FIRST_PAGE }]);
    return (page?.items ?? []).map(({ node }) => Number(node.rowId));
  }
}
