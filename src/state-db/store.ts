/**
 * A session store over one `state.db`: the catalogue for what lists need, the main connection for keyed and bounded reads, other
 * processes for what can be slow.
 */
import { CaduceusError } from '../errors.ts';
import { mapNodes, type PageRequest } from '../paging.ts';
import type {
  Conversation,
  Resolution,
  SearchRequest,
  SearchResult,
  SessionPage,
  SessionStore,
  SessionsEvent,
  StoredSession,
  StoreStatus,
} from '../session-store.ts';
import type { FilesExamination, FilesRequest } from '../web-ui/examination/examine-files.ts';
import { auxiliaryScope, auxiliaryUsage, type DailyUsage, dailyUsage, type TaskUsage } from './auxiliary-usage.ts';
import { FILES_GENERATION } from './beside-alone.ts';
import { familyCatalogue } from './beyond-catalogue.ts';
import type { Catalogue } from './catalogue.ts';
import { cronRuns } from './cron-runs.ts';
import type { StoreExamination } from './examination/examine-store.ts';
import { type Family, family } from './family.ts';
import { HistoryStore } from './history-store.ts';
import { chain, chainAncestors, liveContinuation, resumeTarget } from './lineage.ts';
import { type ListQuery, type ListTotals, listPage, listTotals } from './listing.ts';
import { type BaselineProbe, type PassProbe, type RowsReading, readRows, stampOf } from './live-reading.ts';
import { type LiveRow, rowsAfter } from './live-rows.ts';
import { type Backend, backends, type Delegation, delegations, type Hold, type Liveness, liveFacts, livenessOf } from './liveness.ts';
import type { Preview } from './preview.ts';
import { previews } from './previews.ts';
import { type RecentTurn, recentTurns } from './recent-turns.ts';
import { resolveReference } from './resolve.ts';
import { type RoutingEntry, routingEntries } from './routing.ts';
import { type SessionDetails, sessionDetails } from './session-details.ts';
import type { SessionEntry } from './session-record.ts';
import { type LifecycleStatus, lifecycleStatuses } from './session-state.ts';
import { readStatus } from './status.ts';
import type { OpenStore, StoreEvent } from './store-access.ts';
import { type ModelUsage, modelUsage, type UsageBucket, type UsageDimension, type UsageFilter } from './usage.ts';
import type { ExportRequest, WrittenExport } from './write-export.ts';

const RECENT_TURNS = 20;
/** What reads everything may take so much longer than other slow reads. */
export const DEEP_FACTOR = 30;
/** Rows of several sessions that are read at a time. */
const MOST_BETWEEN = 2000;
/** Filters whose totals are kept. */
const MOST_TOTALS = 100;

export class StateDbStore extends HistoryStore implements SessionStore {
  /** Totals of lists, good for one version of the catalogue. */
  #totals: { catalogue: Catalogue | null; version: number; kept: Map<string, ListTotals> } = {
    catalogue: null,
    version: 0,
    kept: new Map(),
  };

  async generation(): Promise<string> {
    return (await this.access.fresh()).generation;
  }

  status(): Promise<StoreStatus> {
    return readStatus(this.access, () => this.job({ kind: 'counts' }, 'Counting the store'));
  }

  sessions(ids: readonly string[]): Promise<Map<string, StoredSession>> {
    return this.placed(ids, (graph) => this.collect(ids, graph, (entry) => this.stored(entry, graph)));
  }

  async ensureFollowable(): Promise<void> {
    if ((await this.access.fresh()).catalogue !== null) return;
    throw new CaduceusError(
      'TOO_MANY_SESSIONS',
      'The store has more sessions than are kept in memory, so their changes are not noticed. Raise --largest-catalogue to follow them.',
      { details: { setting: '--largest-catalogue' } },
    );
  }

  async allSessions(): Promise<StoredSession[]> {
    const { catalogue } = await this.access.fresh();
    return catalogue === null ? [] : [...catalogue.entries()].map((entry) => this.stored(entry, catalogue));
  }

  children(ids: readonly string[]): Promise<Map<string, StoredSession[]>> {
    return this.placed(ids, (graph) => this.collect(ids, graph, ({ id }) => graph.children(id).map((child) => this.stored(child, graph))));
  }

  conversations(ids: readonly string[]): Promise<Map<string, Conversation>> {
    return this.placed(ids, (graph) => this.collect(ids, graph, (entry) => this.#conversation(entry, graph)));
  }

  families(ids: readonly string[]): Promise<Map<string, Family<StoredSession>>> {
    return this.placed(ids, (graph) =>
      this.collect(ids, graph, (entry) => {
        const found = family(graph, entry, (node) => node.stats?.total ?? null);
        return { ...found, nodes: found.nodes.map((node) => this.stored(node, graph)) };
      }),
    );
  }

  resolve(reference: string): Promise<Resolution> {
    return this.access.read((store) => {
      const found = resolveReference(store, reference);
      if (found.kind !== 'FOUND') return found;
      const graph = store.catalogue ?? familyCatalogue(store.connection, [found.id]);
      const entry = graph.get(found.id);
      return entry === undefined ? { kind: 'NONE' } : { kind: 'FOUND', session: this.stored(entry, graph) };
    });
  }

  async list(query: ListQuery, page: PageRequest): Promise<SessionPage> {
    const { catalogue, generation, isDegraded } = await this.#listed(query);
    if (catalogue === null) {
      const found = await this.job({ kind: 'list', query, page, generation }, 'The list');
      return { ...mapNodes(found, (node) => ({ ...node, profile: this.profile })), isDegraded };
    }
    const found = listPage(catalogue, query, page, generation);
    return { ...mapNodes(found, (item) => this.stored(item.tip, catalogue)), isDegraded };
  }

  async listGeneration(query: ListQuery): Promise<string> {
    return (await this.#listed(query)).generation;
  }

  /** Without a store the list is that of the files; beside one that can't be read only who asks for files alone gets them. */
  async #listed({ filter }: ListQuery): Promise<Pick<OpenStore, 'catalogue' | 'generation'> & { readonly isDegraded: boolean }> {
    try {
      return { ...(await this.access.fresh()), isDegraded: false };
    } catch (error) {
      const files = await this.alone(error);
      const asksForFiles = filter.origins != null && filter.origins.length > 0 && !filter.origins.includes('STATE_DB');
      if (files === null || !(files.isWhole || asksForFiles)) throw error;
      return { catalogue: files.catalogue, generation: FILES_GENERATION, isDegraded: !files.isWhole };
    }
  }

  async totals(query: ListQuery): Promise<ListTotals> {
    const { catalogue } = await this.#listed(query);
    if (catalogue === null) return this.job({ kind: 'totals', query }, 'Counting the list');
    const key = JSON.stringify([query.collapse, query.filter]);
    if (this.#totals.catalogue !== catalogue || this.#totals.version !== catalogue.version || this.#totals.kept.size >= MOST_TOTALS) {
      this.#totals = { catalogue, version: catalogue.version, kept: new Map() };
    }
    const known = this.#totals.kept.get(key);
    if (known !== undefined) return known;
    const totals = listTotals(catalogue, query);
    this.#totals.kept.set(key, totals);
    return totals;
  }

  previews(ids: readonly string[]): Promise<Map<string, Preview>> {
    return this.access.read(({ connection }) => previews(connection, ids));
  }

  details(ids: readonly string[]): Promise<Map<string, SessionDetails>> {
    return this.access.read(({ connection }) => sessionDetails(connection, ids));
  }

  modelUsage(ids: readonly string[]): Promise<Map<string, ModelUsage[]>> {
    return this.access.read(({ connection }) => modelUsage(connection, ids));
  }

  liveness(ids: readonly string[]): Promise<Map<string, Liveness>> {
    return this.access.read((store) => {
      const facts = liveFacts(store.connection, this.options.now());
      const graph = store.catalogue ?? familyCatalogue(store.connection, ids);
      return this.collect(ids, graph, (entry) => livenessOf(graph, entry, facts));
    });
  }

  lifecycleStatuses(ids: readonly string[]): Promise<Map<string, LifecycleStatus>> {
    return this.access.read(({ connection }) => lifecycleStatuses(connection, ids));
  }

  auxiliaryUsage(ids: readonly string[]): Promise<Map<string, TaskUsage[]>> {
    return this.graph(ids, (graph, { connection }) => {
      const scopes = this.collect(ids, graph, (entry) => auxiliaryScope(graph, entry));
      const rows = modelUsage(connection, [...new Set([...scopes.values()].flat())]);
      return new Map([...scopes].map(([id, scope]) => [id, auxiliaryUsage(scope.flatMap((member) => rows.get(member) ?? []))]));
    });
  }

  dailyUsage(ids: readonly string[]): Promise<Map<string, DailyUsage[]>> {
    return this.access.read(({ connection }) => dailyUsage(connection, ids));
  }

  recentTurns(ids: readonly string[]): Promise<Map<string, RecentTurn[]>> {
    return this.access.read(({ connection }) => recentTurns(connection, ids, { limit: RECENT_TURNS }));
  }

  resumeTargets(ids: readonly string[]): Promise<Map<string, StoredSession>> {
    return this.graph(ids, (graph) =>
      this.collect(ids, graph, (entry) =>
        this.stored(
          resumeTarget(graph, entry, ({ stats }) => (stats?.total ?? 0) > 0),
          graph,
        ),
      ),
    );
  }

  async cronRuns(jobId: string, limit: number): Promise<StoredSession[]> {
    const ids = await this.access.read(({ connection }) => cronRuns(connection, jobId, limit));
    const found = await this.sessions(ids);
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  routing(scope: string | null): Promise<RoutingEntry[]> {
    return this.access.read(({ connection }) => routingEntries(connection, scope));
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const { generation } = await this.access.fresh();
    const sessionIds = request.sessionId === null ? null : [request.sessionId];
    const answer = await this.job({ kind: 'search', query: { ...request, sessionIds }, generation }, 'The search');
    const [messages, sessions] = await Promise.all([
      this.messages(answer.hits.map((hit) => hit.rowId)),
      this.sessions([...new Set(answer.hits.map((hit) => hit.sessionId))]),
    ]);
    const hits = answer.hits.flatMap((hit) => {
      const message = messages.get(hit.rowId);
      const session = sessions.get(hit.sessionId);
      return message === undefined || session === undefined ? [] : [{ cursor: hit.cursor, snippet: hit.snippet, message, session }];
    });
    return { ...answer, hits };
  }

  usage(filter: UsageFilter, groupBy: readonly UsageDimension[]): Promise<UsageBucket[]> {
    return this.job({ kind: 'usage', filter, groupBy, profile: this.profile }, 'Adding up the usage');
  }

  examine(deep: boolean): Promise<StoreExamination> {
    return this.job({ kind: 'examine', deep }, 'Examining the store', deep ? DEEP_FACTOR : 1);
  }

  examineFiles(request: FilesRequest): Promise<FilesExamination> {
    return this.job({ kind: 'examineFiles', request }, 'Examining files', request.deep ? DEEP_FACTOR : 1);
  }

  turnLeases(): Promise<Hold[]> {
    return this.access.read(({ connection }) => [...liveFacts(connection, this.options.now()).leases.values()]);
  }

  compressionLocks(): Promise<Hold[]> {
    return this.access.read(({ connection }) => [...liveFacts(connection, this.options.now()).locks.values()]);
  }

  delegations(parentIds: readonly string[] | null, limit: number): Promise<Delegation[]> {
    return this.access.read(({ connection }) => delegations(connection, parentIds, limit));
  }

  backends(): Promise<Backend[]> {
    return this.access.read(({ connection }) => backends(connection, this.options.now()));
  }

  commitStamp(): Promise<string> {
    return this.access.read(({ connection }) => stampOf(connection));
  }

  rowsBetween(sessionIds: readonly string[], after: string, upTo: string): Promise<readonly LiveRow[]> {
    return this.access.read(({ connection }) => {
      const rows = rowsAfter(connection, sessionIds, after, MOST_BETWEEN, this.options.now());
      return rows.filter(({ rowId }) => BigInt(rowId) <= BigInt(upTo));
    });
  }

  readRows(probe: BaselineProbe | PassProbe): Promise<RowsReading | null> {
    return this.access.read(({ connection, generation }) => readRows(connection, probe, this.options.now(), generation));
  }

  check(): Promise<void> {
    return this.access.check();
  }

  /** Compares everything with the file now; afterwards the catalogue is exact. */
  settle(): Promise<void> {
    return this.access.settle();
  }

  onSessions(listener: (event: SessionsEvent) => void): () => void {
    return this.access.onEvent((event) => {
      const heard = this.#sessionsEvent(event);
      if (heard !== null) listener(heard);
    });
  }

  watchBeside(listener: () => void): () => void {
    return this.access.watchBeside(listener);
  }

  onHealth(listener: () => void): () => void {
    return this.access.onEvent((event) => {
      if (event.kind === 'HEALTH') listener();
    });
  }

  writeExport(request: Omit<ExportRequest, 'largest'>): Promise<WrittenExport | null> {
    return this.job({ kind: 'export', request: { ...request, largest: this.options.largestTranscript } }, 'The export');
  }

  suspend(): Promise<() => void> {
    return this.access.suspend();
  }

  close(): void {
    this.access.close();
    this.closeAlone();
  }

  #sessionsEvent(event: StoreEvent): SessionsEvent | null {
    if (event.kind === 'HEALTH') return null;
    if (event.kind === 'REOPENED') return { kind: 'RESET' };
    const stored = (entry: SessionEntry | undefined) => (entry === undefined ? null : this.stored(entry, event.catalogue));
    return { kind: 'SESSIONS', changes: event.changes.map(({ before, after }) => ({ before: stored(before), after: stored(after) })) };
  }

  #conversation(entry: SessionEntry, graph: Catalogue): Conversation {
    const before = chainAncestors(graph, entry);
    const after = chain(graph, entry);
    const segments = [...before, ...after].map((segment) => this.stored(segment, graph));
    const self = this.stored(entry, graph);
    const continuation = liveContinuation(graph, entry);
    return {
      root: segments[0] ?? self,
      tip: segments.at(-1) ?? self,
      segments,
      liveContinuation: continuation === null ? null : this.stored(continuation, graph),
    };
  }
}
