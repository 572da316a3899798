/** Files made from the store, saves of sessions, lineage and figures of the Web UI's sessions, against upstream's own functions. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject } from '../../src/state-db/decode.ts';
import { putIndexRow } from '../../src/web-ui/index-file/patch-index.ts';
import { lineageReport } from '../../src/web-ui/list/lineage-report.ts';
import { enrichment } from '../../src/web-ui/list/list-lineage.ts';
import { normaliseSource } from '../../src/web-ui/list/source-class.ts';
import type { StoreRows, StoreSession } from '../../src/web-ui/list/store-rows.ts';
import { readSidecar } from '../../src/web-ui/sidecar/read-sidecar.ts';
import { writeSidecar } from '../../src/web-ui/sidecar/write-sidecar.ts';
import { withoutRowId } from '../../src/web-ui/transcript/state-message.ts';
import { readStateMessages } from '../../src/web-ui/transcript/state-messages.ts';
import { WriteRefused } from '../../src/write-refused.ts';
import { commandHost } from '../support/command-host.ts';
import type { GoldenCase } from '../support/golden.ts';
import { readStore } from '../support/web-ui-rows.ts';
import { goldenKind, type Handler, type Rule, type Verdict, verdict } from './compare.ts';
import { openWebUiHome, type WebUiHome } from './session-files.ts';

type Fields = Readonly<Record<string, unknown>>;

class Home {
  readonly files: WebUiHome;
  readonly storePath: string;
  readonly now: number;
  readonly store: StoreRows;

  private constructor(now: number) {
    this.files = openWebUiHome('webui-home');
    this.storePath = join(dirname(this.files.stateDir), 'state.db');
    this.now = now;
    this.store = readStore(this.storePath);
  }

  static async open(_: string, now: number): Promise<Home> {
    return new Home(now);
  }

  fields(name: string): Fields {
    return JSON.parse(readFileSync(join(this.files.sessionsDir, name), 'utf8')) as Fields;
  }

  close(): void {
    this.files.close();
  }
}

/** Of ours only what upstream has too: newer builds write more members. */
function withKeysOf(ours: Fields, theirs: unknown): Fields {
  return Object.fromEntries(Object.entries(ours).filter(([key]) => isJsonObject(theirs) && key in theirs));
}

const MESSAGE_KEYS = new Set(['role', 'content', 'timestamp']);

/** Upstream leaves tools and reasoning behind (D21); all else is the same. */
const materialized: Handler<Home> = async ({ files, storePath }, { result }) => {
  const host = commandHost(storePath);
  const { sessions } = await host.run('materializeSidecars', { ids: null });
  const rows = host.rows("SELECT tool_calls FROM messages WHERE session_id = 'mw_dbonly_webui' AND tool_calls IS NOT NULL");
  host.close();
  const theirs = result as { new_sidecars: Readonly<Record<string, Fields>> };
  const made = sessions.map(({ sessionId }): [string, Fields] => {
    const text = readFileSync(join(files.sessionsDir, `${sessionId}.json`), 'utf8');
    return [sessionId, withKeysOf(JSON.parse(text) as Fields, theirs.new_sidecars[sessionId])];
  });
  const messages = made.flatMap(([, fields]) => fields.messages as Fields[]);
  const calls = messages.flatMap(({ tool_calls }) => (tool_calls === undefined ? [] : [JSON.stringify(tool_calls)]));
  const stored = rows.map(({ tool_calls }) => JSON.stringify(JSON.parse(String(tool_calls))));
  if (stored.length === 0 || calls.join() !== stored.join()) return { difference: 'the tool calls are not those of the rows' };
  const bare = (message: Fields) => Object.fromEntries(Object.entries(message).filter(([key]) => MESSAGE_KEYS.has(key)));
  const found = verdict(
    {
      returned: {
        scanned: sessions.length,
        materialized: sessions.filter((session) => session.materialized).length,
        details: sessions.map((session) => ({
          session_id: session.sessionId,
          materialized: session.materialized,
          messages: session.messages,
        })),
      },
      new_sidecars: Object.fromEntries(made.map(([id, fields]) => [id, { ...fields, messages: (fields.messages as Fields[]).map(bare) }])),
    },
    result,
  );
  return 'difference' in found ? found : { deviations: ['restore-tools-kept'] };
};

/** Upstream's row of the index has the count of before the save (`spec/webui-sidecars.md` 17). */
const ROW_COUNT: Rule = {
  id: 'restore-row-counts',
  adjust: (expected) => {
    const { index_row: row, sidecar, ...others } = expected as { index_row: Fields; sidecar: Fields };
    return { ...others, sidecar, index_row: { ...row, message_count: sidecar.message_count } };
  },
};

async function saved(home: Home, golden: GoldenCase & { readonly name?: string }): Promise<Verdict> {
  const sid = String(golden.args.sid);
  const before = home.fields(`${sid}.json`);
  const isKept = () => existsSync(join(home.files.sessionsDir, `${sid}.json.bak`));
  const save = (fields: Fields) => writeSidecar(home.files.sessionsDir, sid, fields, { now: () => home.now });
  try {
    if (golden.name === 'metadata-only object refused') await save({ ...before, messages: undefined });
    else if (golden.name === 'empty save of a pending session is refused') await save({ ...before, messages: [] });
    else await save({ ...before, messages: (before.messages as unknown[]).slice(0, 2), updated_at: home.now });
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    // The silent skip of the one and the error of the other are refusals here.
    if (golden.error !== undefined) return error.code === 'METADATA_ONLY' ? { deviations: [] } : { difference: error.code };
    return verdict({ changed: JSON.stringify(home.fields(`${sid}.json`)) !== JSON.stringify(before), bak: isKept() }, golden.result);
  }
  await putIndexRow(home.files.sessionsDir, sid);
  const rows = JSON.parse(readFileSync(join(home.files.sessionsDir, '_index.json'), 'utf8')) as Fields[];
  const theirs = golden.result as { sidecar: Fields; index_row: Fields };
  const ours = {
    sidecar: withKeysOf(home.fields(`${sid}.json`), theirs.sidecar),
    changed: true,
    bak: isKept(),
    index_row: withKeysOf(rows.find((row) => row.session_id === sid) ?? {}, theirs.index_row),
  };
  return verdict(ours, golden.result, [ROW_COUNT]);
}

/** What is not known has no conversation. */
const UNKNOWN: Rule = {
  id: 'restore-unknown-lineage',
  adjust: (expected) => (isJsonObject(expected) && expected.found === false ? { ...expected, lineage_key: null } : expected),
};

const reported: Handler<Home> = ({ store }, { args, result }) => {
  const report = lineageReport(store, String(args.session_id));
  const rowOf = (id: string, role: string, startedAt: number | null) => {
    const session = store.sessions.get(id);
    return {
      session_id: id,
      role,
      title: session?.title ?? null,
      source: session?.source,
      started_at: startedAt,
      updated_at: session?.endedAt ?? session?.startedAt,
      end_reason: session?.endReason ?? null,
      active: session?.endedAt === null,
      archived: false,
    };
  };
  const ours = {
    mutation: false,
    found: report.found,
    session_id: args.session_id,
    lineage_key: report.lineageKey,
    tip_session_id: report.tipSessionId,
    total_segments: report.segments.length,
    materialized_segments: report.segments.length,
    segments: report.segments.map(({ id, role, startedAt }) => rowOf(id, role, startedAt)),
    children: report.children.map(({ id, startedAt }) => rowOf(id, 'child_session', startedAt)),
    manual_review: report.manualReview,
  };
  return verdict(ours, result, [UNKNOWN]);
};

const CHAIN = ['_lineage_root_id', '_lineage_tip_id', '_compression_segment_count'];

/** The first segment of a chain is labelled as the others are. */
const ROOTS: Rule = {
  id: 'restore-roots-labelled',
  adjust: (expected) => {
    const rows = expected as Readonly<Record<string, Fields>>;
    const labels = Object.values(rows)
      .filter(({ _lineage_root_id: root }) => root !== undefined)
      .map((row): [string, Fields] => [String(row._lineage_root_id), Object.fromEntries(CHAIN.map((key) => [key, row[key]]))]);
    return { ...rows, ...Object.fromEntries(labels.map(([id, label]) => [id, { ...rows[id], ...label }])) };
  },
};

function metadataOf(store: StoreRows, session: StoreSession): Fields {
  const names = normaliseSource(session.source);
  const found = enrichment(store, session.id) ?? {};
  const isChild = found.isChildSession === true;
  return {
    ...(session.title ? { _state_db_title: session.title } : {}),
    _state_db_source: session.source,
    _state_db_source_tag: names.sourceTag,
    _state_db_raw_source: names.rawSource,
    _state_db_session_source: names.sessionSource,
    _state_db_source_label: names.sourceLabel,
    parent_session_id: found.parentSessionId ?? undefined,
    relationship_type: isChild ? 'child_session' : undefined,
    parent_title: found.parentTitle ?? undefined,
    parent_source: found.parentSource ?? undefined,
    _cross_surface_child_session: isChild ? found.crossSurface : undefined,
    _parent_lineage_root_id: found.parentLineageRootId ?? undefined,
    _parent_lineage_tip_id: found.parentLineageTipId ?? undefined,
    _lineage_root_id: found.lineageRootId ?? undefined,
    _lineage_tip_id: found.lineageTipId ?? undefined,
    _compression_segment_count: found.segmentCount ?? undefined,
  };
}

const described: Handler<Home> = ({ store }, { args, result }) => {
  const known = (args.session_ids as string[]).flatMap((id) => store.sessions.get(id) ?? []);
  return verdict(Object.fromEntries(known.map((session) => [session.id, metadataOf(store, session)])), result, [ROOTS]);
};

const shown: Handler<Home> = async ({ storePath }, { args, result }) => {
  const host = commandHost(storePath);
  const { messages } = await host.writer.read((store) => readStateMessages(store, String(args.sid), { stitch: true }));
  host.close();
  return verdict(messages.map(withoutRowId), result);
};

function figures(name: 'status' | 'usage'): Handler<Home> {
  return async ({ files }, { args, result, error }) => {
    const session = await readSidecar(files.sessionsDir, String(args.session_id));
    if (session === null) return error?.type === 'KeyError' ? { deviations: [] } : { difference: 'there is no session' };
    const { row } = session;
    const { inputTokens, outputTokens, estimatedCost } = row.usage;
    const usage = {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: (inputTokens ?? 0) + (outputTokens ?? 0),
      estimated_cost: estimatedCost,
    };
    if (name === 'usage') return verdict({ returned: { ...usage, model: row.model } }, result);
    const status = {
      session_id: row.id,
      title: row.title,
      model: row.model,
      profile: row.profile ?? 'default',
      hermes_home: '$HOME_DIR',
      workspace: row.workspace,
      personality: row.personality,
      message_count: row.storedMessageCount,
      created_at: row.createdAt,
      updated_at: row.updatedAt,
      agent_running: row.activeStreamId !== null,
      active_stream_id: row.activeStreamId,
      ...usage,
    };
    return verdict({ returned: status }, result);
  };
}

const HANDLERS: Readonly<Record<string, Handler<Home>>> = {
  session_status: figures('status'),
  session_usage: figures('usage'),
  get_cli_session_messages: shown,
  read_session_lineage_report: reported,
  read_session_lineage_metadata: described,
  recover_missing_sidecars_from_state_db: materialized,
  'Session.save': async (_, golden) => {
    // Upstream began each with a fresh copy.
    const home = await Home.open('webui-home', 1782002218);
    try {
      return await saved(home, golden);
    } finally {
      home.close();
    }
  },
};

goldenKind('recovery_ops', ['webui-home'], Home.open, HANDLERS, ({ function: name }) => (name ?? '') in HANDLERS, 'restore-');
