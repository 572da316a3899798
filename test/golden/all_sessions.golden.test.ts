/** The unified list of a whole home against upstream's own lists and the answers of its server. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { externalEntries } from '../../src/web-ui/list/compose-external.ts';
import { composeList, type ListInputs } from '../../src/web-ui/list/compose-list.ts';
import { webUiEntries } from '../../src/web-ui/list/compose-web-ui.ts';
import { enrichment } from '../../src/web-ui/list/list-lineage.ts';
import { type ListRow, visibilityOf } from '../../src/web-ui/list/list-row.ts';
import { fixturesDir, type GoldenCase, loadGolden } from '../support/golden.ts';
import { temporaryFolder } from '../support/stores.ts';
import { listInputs, listRequest, readSidecars, readStore } from '../support/web-ui-rows.ts';
import { goldenKind, type Handler, type Rule, verdict } from './compare.ts';

type Row = Readonly<Record<string, unknown>>;

/** What a row of ours is called upstream. */
const NAMES: Readonly<Record<string, (row: ListRow) => unknown>> = {
  session_id: (row) => row.id,
  title: (row) => row.title,
  display_title: (row) => row.displayTitle,
  workspace: (row) => row.workspace,
  model: (row) => row.model,
  model_provider: (row) => row.modelProvider,
  message_count: (row) => row.messageCount,
  actual_message_count: (row) => row.actualMessageCount,
  user_message_count: (row) => row.userMessageCount,
  created_at: (row) => row.createdAt,
  updated_at: (row) => row.updatedAt,
  last_message_at: (row) => (row.origins.has('SIDECAR') ? row.lastMessageAt : null),
  pinned: (row) => row.pinned,
  archived: (row) => row.archived,
  project_id: (row) => row.projectId,
  profile: (row) => row.profile,
  active_stream_id: (row) => row.activeStreamId,
  has_pending_user_message: (row) => row.hasPending,
  is_cli_session: (row) => row.isCliSession,
  source_tag: (row) => row.sourceTag,
  raw_source: (row) => row.rawSource,
  session_source: (row) => row.sessionSource,
  source_label: (row) => row.sourceLabel,
  read_only: (row) => row.readOnly,
  pre_compression_snapshot: (row) => row.isSnapshot,
  parent_session_id: (row) => row.parentSessionId,
  parent_title: (row) => row.parentTitle,
  parent_source: (row) => row.parentSource,
  relationship_type: (row) => (row.isChildSession ? 'child_session' : null),
  _cross_surface_child_session: (row) => row.crossSurface,
  _lineage_root_id: (row) => row.lineageRootId,
  _lineage_tip_id: (row) => row.lineageTipId,
  _compression_segment_count: (row) => row.segmentCount,
  _parent_lineage_root_id: (row) => row.parentLineageRootId,
  _parent_lineage_tip_id: (row) => row.parentLineageTipId,
  user_id: (row) => row.userId,
  chat_id: (row) => row.chatId,
  chat_type: (row) => row.chatType,
  end_reason: (row) => row.endReason,
  default_hidden: (row) => row.defaultHidden,
  worktree_path: (row) => row.worktreePath,
};
/** Not sent by upstream's server. */
const PRIVATE = ['actual_message_count', 'user_id', 'chat_id', 'chat_type', 'end_reason'];
/** Upstream omits a key, or sends null or false, as the place where the row was made has it. */
const NOTHING: readonly unknown[] = [null, undefined, false];

function rowsOf(rows: readonly ListRow[], without: readonly string[] = []): Row[] {
  return inTieOrder(
    rows.map((row) =>
      filled(
        Object.entries(NAMES).map(([key, of]) => [key, of(row)]),
        without,
      ),
    ),
  );
}

function filled(entries: readonly (readonly [string, unknown])[], without: readonly string[]): Row {
  return Object.fromEntries(entries.filter(([key, value]) => key in NAMES && !without.includes(key) && !NOTHING.includes(value)));
}

function expectedRows(result: unknown, without: readonly string[] = []): Row[] {
  if (!Array.isArray(result)) throw new Error('the golden answer is no list');
  return inTieOrder(result.filter(isJsonObject).map((row) => filled(Object.entries(row), without)));
}

const timeOf = (row: Row) => Number(row.last_message_at || row.updated_at || 0);

/** Rows of the same time have no defined order: by id, in both lists. */
function inTieOrder(rows: readonly Row[]): Row[] {
  const isTie = (a: Row, b: Row) => timeOf(a) === timeOf(b) && a.pinned === b.pinned;
  const groups: Row[][] = [];
  for (const row of rows) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && isTie(group[0], row)) group.push(row);
    else groups.push([row]);
  }
  return groups.flatMap((group) => group.sort((a, b) => (String(a.session_id) < String(b.session_id) ? -1 : 1)));
}

class Home {
  readonly inputs: ListInputs;

  constructor() {
    const home = temporaryFolder();
    cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true, mode: 0 });
    const sessions = join(home, 'webui', 'sessions');
    const deleted = JSON.parse(readFileSync(join(sessions, '_deleted_webui_sessions.json'), 'utf8')) as { ids: string[] };
    this.inputs = listInputs({
      sidecars: readSidecars(sessions),
      store: readStore(join(home, 'state.db')),
      deleted: deleted.ids,
      context: { ...CONTEXT, lastWorkspace: '/srv/work' },
    });
  }

  close(): void {}
}

/** Upstream has made the project of its cron jobs when it answers. */
const CONTEXT = { cronProjectId: 'c0c0c0c0c0c0', webhookProjectId: null, cronJobNames: new Map(), lastWorkspace: null };
const scan = loadGolden('webui-home', 'all_sessions').cases.find(({ result }, index) => index === 2 && Array.isArray(result));

/** Rows of upstream's scan of the files themselves, before it repaired anything. */
function fromFiles(rows: unknown, ids: (row: Row) => boolean): unknown {
  if (!Array.isArray(rows)) return rows;
  const scanned = new Map(expectedRows(scan?.result, PRIVATE).map((row) => [row.session_id, row]));
  return rows.filter(isJsonObject).map((row) => {
    const file = scanned.get(row.session_id);
    return file !== undefined && ids(file) ? file : row;
  });
}

/** The file name says whose it is. */
const FILE_NAME: Rule = {
  id: 'file-name-is-id',
  adjust: (rows) =>
    inTieOrder(
      each(rows, (row) => (row.session_id === 'mw_other_id' ? { ...row, session_id: 'mw_mismatched_id', user_message_count: 3 } : row)),
    ),
};
/** The file, never the index. */
const FILES_ONLY: Rule = {
  id: 'index-is-no-source',
  adjust: (rows) => fromFiles(rows, (row) => row.session_id === 'mw_db_newer_idle'),
};
const ROOT_LABELLED: Rule = {
  id: 'root-is-labelled',
  adjust: (rows) =>
    each(rows, (row) =>
      row.session_id === 'mw_parent_snapshot'
        ? { ...row, _lineage_root_id: 'mw_parent_snapshot', _lineage_tip_id: 'mw_child_tip', _compression_segment_count: 2 }
        : row,
    ),
};
/** As upstream answers without lineage. */
const ALWAYS_CORRECTED: Rule = {
  id: 'counts-always-corrected',
  adjust: (rows) =>
    each(rows, (row) =>
      row.session_id === 'mw_undone'
        ? { ...row, message_count: 7, actual_message_count: 7, updated_at: 1782000827, last_message_at: 1782000827 }
        : row,
    ),
};
/** Nothing is repaired by listing: the rows of the files, in the order that they have then. */
const NOT_REPAIRED: Rule = {
  id: 'listing-repairs-nothing',
  adjust: (rows) => {
    const files = fromFiles(rows, (row) => row.active_stream_id !== undefined || row.session_id === 'mw_shrunk');
    const tip = expectedRows(scan?.result, PRIVATE).filter((row) => row.session_id === 'mw_child_tip');
    const running = (row: Row) => Number(row.active_stream_id !== undefined && row.has_pending_user_message !== undefined);
    const all = [...each(files, (row) => row), ...tip];
    return inTieOrder(all.sort((a, b) => running(b) - running(a) || timeOf(b) - timeOf(a)));
  },
};

function each(rows: unknown, change: (row: Row) => Row): Row[] {
  return Array.isArray(rows) ? rows.filter(isJsonObject).map(change) : [];
}

const allSessions: Handler<Home> = ({ inputs }, { args, result, projection }) => {
  const store = inputs.stores[0]?.store;
  if (store === undefined) throw new Error('the home has no store');
  const shown = webUiEntries(inputs, () => inputs.stores[0] ?? null).filter((entry) => visibilityOf(entry.state).shown);
  if (projection !== undefined) {
    const ids = (result as string[]).map((id) => (id === 'mw_other_id' ? 'mw_mismatched_id' : id)).sort();
    const ours = shown.map(({ row }) => row.id).sort();
    return ours.join() === ids.join() ? { deviations: ['file-name-is-id'] } : { difference: ours.join() };
  }
  const withLineage = args.include_lineage_metadata === true;
  const rows = shown.map(({ row }) => (withLineage ? { ...row, ...enrichment(store, row.id) } : row));
  return verdict(rowsOf(rows), expectedRows(result), [FILE_NAME, FILES_ONLY, ROOT_LABELLED, ALWAYS_CORRECTED]);
};

const cliSessions: Handler<Home> = ({ inputs }, { result }) => {
  const titles = new Map(inputs.sidecars.map(({ id, title }) => [id, title]));
  const rows = externalEntries(inputs, listRequest())
    .filter((entry) => entry.state === 'VISIBLE')
    .map(({ row }) => ({ ...row, title: titles.get(row.id) ?? row.title }));
  const byPass = [...rows.filter((row) => row.sourceTag !== 'cron'), ...rows.filter((row) => row.sourceTag === 'cron')];
  // What delegates are is said one stage later.
  return verdict(rowsOf(byPass, ['read_only', '_cross_surface_child_session']), expectedRows(result));
};

const FUNCTIONS = ['all_sessions', 'get_cli_sessions'];
goldenKind(
  'all_sessions',
  ['webui-home'],
  async () => new Home(),
  { all_sessions: allSessions, get_cli_sessions: cliSessions },
  (golden) => FUNCTIONS.includes(golden.function ?? ''),
);

const requestOf = (golden: GoldenCase) => new URL(String((golden as { request?: unknown }).request).slice('GET '.length), 'http://host');

const answered: Handler<Home> = ({ inputs }, golden) => {
  const { searchParams } = requestOf(golden);
  const ours = inputs.stores.map((store) => ({ ...store, context: { ...CONTEXT, lastWorkspace: '$HOME_DIR/ws' } }));
  const list = composeList({ ...inputs, stores: ours }, listRequest({ includeArchived: searchParams.get('include_archived') === '1' }));
  const { sessions, ...answer } = golden.result as { sessions: unknown } & Row;
  const counts = {
    cli_count: list.counts.external,
    archived_webui_count: list.counts.archivedWebui,
    archived_cli_count: list.counts.archivedCli,
    other_profile_count: list.counts.otherProfiles,
    // The tip that is listed besides its snapshot (listing-repairs-nothing).
    webui_session_count: list.counts.webui - 1,
    cli_session_count: list.counts.cli,
  };
  const difference = Object.entries(counts).find(([key, count]) => answer[key] !== count);
  if (difference !== undefined) return { difference: `${difference.join(': ')} instead of ${String(answer[difference[0]])}` };
  const rules = [FILE_NAME, NOT_REPAIRED, FILES_ONLY, ROOT_LABELLED];
  return verdict(rowsOf(list.shown, PRIVATE), expectedRows(sessions, PRIVATE), rules);
};

goldenKind(
  'rest',
  ['webui-home'],
  async () => new Home(),
  { '': answered },
  (golden) => requestOf(golden).pathname === '/api/sessions',
);
