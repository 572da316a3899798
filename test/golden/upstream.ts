/**
 * Upstream's functions in terms of ours, over a copy of one golden store: a connection, the catalogue that lists come from, and nothing
 * that decides anything itself.
 */
import { Catalogue } from '../../src/state-db/catalogue.ts';
import { CatalogueSync } from '../../src/state-db/catalogue-sync.ts';
import { StoreConnection } from '../../src/state-db/connection.ts';
import { exportedSession } from '../../src/state-db/export.ts';
import type { ListItem } from '../../src/state-db/list-item.ts';
import { type ListQuery, listPage, pinnedBeyond, type SessionFilter } from '../../src/state-db/listing.ts';
import { previews } from '../../src/state-db/previews.ts';
import { sessionDetails } from '../../src/state-db/session-details.ts';
import type { SessionEntry } from '../../src/state-db/session-record.ts';
import { isUnread } from '../../src/state-db/session-state.ts';
import { copyStore } from '../support/golden.ts';

export type UpstreamRow = Readonly<Record<string, unknown>>;
type Arguments = Readonly<Record<string, unknown>>;

const GENERATION = 'golden';
const LARGEST_PAGE = 200;

export class Upstream {
  readonly name: string;
  readonly connection: StoreConnection;
  readonly catalogue: Catalogue;
  /** The clock of the golden answers. */
  readonly now: number;

  private constructor(name: string, connection: StoreConnection, catalogue: Catalogue, now: number) {
    this.name = name;
    this.connection = connection;
    this.catalogue = catalogue;
    this.now = now;
  }

  static async open(store: string, now: number): Promise<Upstream> {
    const connection = StoreConnection.open(copyStore(store), { lockWaitMs: 1000 });
    const catalogue = new Catalogue();
    await new CatalogueSync(connection, catalogue).build();
    return new Upstream(store, connection, catalogue, now);
  }

  close(): void {
    this.connection.close();
  }

  /** Throws for an id that the store lacks. */
  entry(id: string): SessionEntry {
    const entry = this.catalogue.get(id);
    if (entry === undefined) throw new Error(`no session ${JSON.stringify(id)}`);
    return entry;
  }

  /** `get_session`: every column, decoded; null for an unknown id. */
  getSession(id: string): UpstreamRow | null {
    const entry = this.catalogue.get(id);
    return entry === undefined ? null : exportedSession(entry, sessionDetails(this.connection, [id]).get(id) ?? null);
  }

  /** `list_sessions_rich`: the rows of a page, projected to their tips unless asked otherwise. */
  listSessions(args: Arguments): UpstreamRow[] {
    const query = listQuery(args);
    const limit = typeof args.limit === 'number' ? args.limit : 20;
    const offset = typeof args.offset === 'number' ? args.offset : 0;
    const all = this.everyItem(query);
    const page = all.slice(offset, limit < 0 ? undefined : offset + limit);
    const pinned = args.include_pinned === true ? pinnedBeyond(this.catalogue, query, new Set(page.map(({ root }) => root.id))) : [];
    return this.rows([...page, ...pinned], args.project_compression_tips !== false);
  }

  /** All pages of a list, forward. */
  everyItem(query: ListQuery): ListItem[] {
    const items: ListItem[] = [];
    for (let after: string | null = null; ; ) {
      const page = listPage(this.catalogue, query, { size: LARGEST_PAGE, direction: 'FORWARD', after, before: null }, GENERATION);
      items.push(...page.items.map(({ node }) => node));
      after = page.items.at(-1)?.cursor ?? null;
      if (!page.hasNextPage || after === null) return items;
    }
  }

  /** List items as upstream's rows: the first segment's columns, with those of the tip that 7.4 names. */
  rows(items: readonly ListItem[], projected: boolean): UpstreamRow[] {
    const shown = items.map((item) => (projected ? item.tip : item.root));
    const texts = previews(
      this.connection,
      shown.map(({ id }) => id),
    );
    return items.map((item, index) => {
      const tip = shown[index] ?? item.root;
      const { root } = item;
      const row = { ...this.getSession(root.id) };
      if (tip !== root) {
        const tipRow = this.getSession(tip.id) ?? {};
        for (const column of FROM_TIP) row[column] = tipRow[column];
        row.title = tip.title ?? root.title;
        row._lineage_root_id = root.id;
      }
      return {
        ...row,
        last_active: tip.recency,
        preview: texts.get(tip.id)?.text,
        unread: isUnread({ lastReadAt: root.lastReadAt, recency: tip.recency, startedAt: root.startedAt }),
      };
    });
  }
}

/** 7.4, beside the title, the recency and the preview. */
const FROM_TIP = [
  'id',
  'ended_at',
  'end_reason',
  'message_count',
  'tool_call_count',
  'model',
  'system_prompt',
  'cwd',
  'git_branch',
  'git_repo_root',
];

/** Upstream leaves nothing out by its kind or emptiness: what our defaults keep back is asked for. */
export function listQuery(args: Arguments): ListQuery {
  const children = args.include_children === true;
  const text = (key: string) => (typeof args[key] === 'string' ? args[key] : null);
  const list = (key: string) => (Array.isArray(args[key]) ? (args[key] as string[]) : null);
  const source = text('source');
  const filter: SessionFilter = {
    sources: source === null ? list('sources') : [source],
    excludeSources: list('exclude_sources'),
    archived: args.archived_only === true ? true : null,
    includeArchived: args.include_archived === true,
    includeHidden: args.include_hidden === true,
    includeBackground: true,
    includeEmpty: true,
    includeDelegates: children,
    includeOrphans: children,
    minMessageCount: typeof args.min_message_count === 'number' ? args.min_message_count : null,
    cwdPrefix: text('cwd_prefix'),
    sessionKey: text('session_key'),
    idContains: text('id_query'),
    titleOrIdContains: text('search_query'),
  };
  return {
    filter,
    order: args.order_by_last_active === true ? 'RECENT_ACTIVITY' : 'STARTED',
    collapse: children ? 'NONE' : 'LINEAGE',
  };
}

/** Only the keys that the golden answer has: upstream's rows are of one version of the schema, ours know all of them. */
export function likeGolden(actual: unknown, golden: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(golden)) return actual.map((item, index) => likeGolden(item, golden[index]));
  if (!isRecord(actual) || !isRecord(golden)) return actual;
  return Object.fromEntries(Object.keys(golden).flatMap((key) => (key in actual ? [[key, likeGolden(actual[key], golden[key])]] : [])));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
