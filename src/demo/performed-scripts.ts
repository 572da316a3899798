/** Sessions out of plays: each script of `script.ts` becomes a session with times that count back from now. */
import { ownerJson, structuredContent } from './owner-json.ts';
import { SeededRandom, seedOf } from './random.ts';
import type { Script } from './script.ts';
import { type Columns, type CostKind, SessionDraft } from './session-draft.ts';

const HOUR = 3600;

/** Whom the gateway talks to; the setting `peer` names one. */
const PEERS: Readonly<Record<string, Columns>> = {
  ada: peer('telegram', 'dm', '4411', null, 'Ada', '4411'),
  club: peer('telegram', 'group', '-100777', '15', 'Reading club', '4411'),
  poems: peer('discord', 'channel', '8801', '12', '#poems', '9001'),
  server: peer('discord', 'channel', '8802', null, '#block-builders', '9001'),
  stars: peer('discord', 'channel', '8803', null, '#night-sky', '9001'),
};

/** A picture of a jetty at low tide, 24 x 16 pixels. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAAkUlEQVR42mOo2PKMKoihYfsDqiCGjl23qIIYJuy9QhL6fy0KgtDEGWYcO' +
  'Ec8gpsCQchSDAsOnyAeoRmELMWw4tgh4hGaQchSDBtO7iEJwU1BE2fYcWYbVRDDgfMbqIIYTlxaRRXEcOHqEmSk5haMidDUYEUMN27Mw6oZFwKqx4oYSDIFDT24' +
  'PQOOKDIIGVHNIAAvEcTULaDAsAAAAABJRU5ErkJggg==';

/** A session id as the owner makes them: the start in UTC and a few digits. */
export function stampedId(startedAt: number, key: string): string {
  const digits = new Date(startedAt * 1000).toISOString().replace(/[-:]/g, '').replace('T', '_').slice(0, 15);
  return `${digits}_${new SeededRandom(seedOf(key)).hex(6)}`;
}

/** The columns of somebody on a chat platform. Throws Error for a name that isn't in the list. */
export function peerNamed(name: string): Columns {
  const columns = PEERS[name];
  if (columns === undefined) throw new Error(`demo: unknown peer "${name}"`);
  return columns;
}

/** Performs a script whose session begins its hours before `now` (epoch seconds); the result still has to be settled. */
export function startScript(script: Script, now: number, columns: Columns = {}): SessionDraft {
  const startedAt = now - script.hoursAgo * HOUR;
  const cwd = script.settings.get('cwd') ?? null;
  const branch = script.settings.get('branch') ?? null;
  const draft = new SessionDraft(sessionId(script, startedAt), script.source, startedAt, {
    model: script.model,
    title: script.title,
    title_source: script.title === null ? null : 'llm',
    cwd,
    git_branch: branch,
    git_repo_root: branch === null ? null : cwd,
    ...(script.settings.has('peer') ? peerNamed(script.settings.get('peer') ?? '') : {}),
    ...columns,
  });
  playSteps(draft, script);
  return draft;
}

/** The same with its end, flags and totals. */
export function performScript(script: Script, now: number, columns: Columns = {}): SessionDraft {
  const draft = startScript(script, now, columns);
  const { settings } = script;
  const end = settings.get('end') ?? (script.source === 'cron' ? 'cron_complete' : undefined);
  if (end !== undefined) draft.end(end);
  for (const flag of ['archived', 'pinned', 'hidden']) if (settings.has(flag)) draft.columns[flag] = 1;
  if (settings.has('read')) draft.columns.last_read_at = draft.clock;
  if (settings.has('unread')) draft.columns.last_read_at = draft.columns.started_at ?? 0;
  if (settings.has('handoff')) Object.assign(draft.columns, { handoff_state: settings.get('handoff'), handoff_platform: 'telegram' });
  draft.settle(settings.get('cost') as CostKind | undefined);
  return draft;
}

function sessionId(script: Script, startedAt: number): string {
  if (script.source === 'webui') return new SeededRandom(seedOf(script.key)).hex(12);
  const stamped = stampedId(startedAt, script.key);
  return script.source === 'cron' ? `cron_${script.key}_${stamped.slice(0, 15)}` : stamped;
}

function playSteps(draft: SessionDraft, script: Script): void {
  const codex = script.settings.get('reasoning') === 'codex';
  const onPlatform = draft.columns.chat_id != null;
  let messageNumber = seedOf(script.key) % 100_000;
  const platformId = (): Columns => (onPlatform ? { platform_message_id: String(++messageNumber) } : {});
  let thought: Columns = {};
  for (const step of script.steps) {
    switch (step.kind) {
      case 'user':
        draft.user(step.text, platformId());
        break;
      case 'image':
        draft.user(
          structuredContent([
            { type: 'text', text: step.text },
            { type: 'image_url', image_url: { url: PICTURE } },
          ]),
          platformId(),
        );
        draft.auxiliary('vision', 'google/gemini-2.5-pro', 1290, 85);
        break;
      case 'steer':
        draft.user(step.text, { display_kind: 'steer' });
        break;
      case 'overheard':
        draft.user(`[${step.name}] ${step.text}`, { observed: 1, ...platformId(), display_metadata: thumbsUp(draft, step.text) });
        break;
      case 'note':
        draft.row('user', step.text, { display_kind: step.displayKind });
        break;
      case 'thought':
        thought = reasoning(step.text, codex, seedOf(step.text));
        break;
      case 'calls':
        draft.calls(step.calls, step.text, thought);
        thought = {};
        break;
      case 'answer':
        draft.answer(step.text, thought);
        thought = {};
    }
  }
}

/** Reasoning in the columns of a plain provider, or in those of one that keeps it encrypted. */
function reasoning(text: string, codex: boolean, seed: number): Columns {
  if (!codex) {
    return { reasoning: text, reasoning_content: text, reasoning_details: ownerJson([{ type: 'reasoning.text', text, index: 0 }]) };
  }
  const random = new SeededRandom(seed);
  return {
    reasoning: text,
    codex_reasoning_items: ownerJson([
      { type: 'reasoning', id: `rs_${random.hex(16)}`, encrypted_content: random.hex(64), summary: [{ type: 'summary_text', text }] },
    ]),
    codex_message_items: ownerJson([{ type: 'message', id: `msg_${random.hex(16)}`, role: 'assistant', phase: 'commentary' }]),
  };
}

/** Whoever votes for a book gets a reaction. */
function thumbsUp(draft: SessionDraft, text: string): string | null {
  if (!/vote|!$/.test(text)) return null;
  return ownerJson({ reactions: [{ emoji: '👍', author: 'Ada', at: Math.round(draft.clock) + 60 }] });
}

function peer(platform: string, type: string, chat: string, thread: string | null, name: string, user: string): Columns {
  const place = thread === null ? chat : `${chat}:${thread}`;
  return {
    user_id: user,
    session_key: `agent:main:${platform}:${type}:${place}`,
    chat_id: chat,
    chat_type: type,
    thread_id: thread,
    display_name: name,
    origin_json: ownerJson({
      platform,
      chat_id: chat,
      chat_name: name,
      chat_type: type,
      user_id: user,
      user_name: 'Ada',
      thread_id: thread,
      chat_topic: null,
    }),
  };
}
