/**
 * The Web UI's list laid over the store of one profile (`spec/webui-listing.md` 2, 9): which sessions there are besides, and what is shown
 * of all of them. Worked out anew when files or the store changed, at most a small part of the time.
 */

import { join } from 'node:path';
import { claudeListRow } from '../claude-code/claude-list-row.ts';
import { atOnce, inSlices, type Steps, stepwise } from '../in-slices.ts';
import type { TombstoneKind } from '../state-db/beside.ts';
import type { EntryOverlay, StoredEntries, UserMessageCounter } from '../state-db/entry-overlay.ts';
import type { SessionEntry } from '../state-db/session-record.ts';
import { asBranch, isFork, isSame, listRowOf, outsideEntry, overlaid } from './beside-entry.ts';
import { readCronJobNames } from './cron-jobs.ts';
import { FileReading } from './file-reading.ts';
import { type GatewaySession, readGatewaySessions } from './gateway-sessions.ts';
import type { Known } from './known-session.ts';
import { composeSteps, DEFAULT_REQUEST, type ListInputs } from './list/compose-list.ts';
import type { ListedRow } from './list/list-row.ts';
import { fold } from './list/source-class.ts';
import { NO_CONTEXT, type ProjectionContext } from './list/store-projection.ts';
import type { StoreRows } from './list/store-rows.ts';
import { ownSidecars } from './own-sidecars.ts';
import { isSameProfile } from './projects/projects-file.ts';
import { isSameKnown, savedAlone, savedFiles, tiedIds } from './saved-alone.ts';
import type { SidecarRow } from './sidecar/sidecar-row.ts';
import { TerminalCounts } from './terminal-counts.ts';
import type { WebUiFacts, WebUiHome } from './web-ui-home.ts';

export interface ProfileOverlayOptions {
  readonly home: Pick<WebUiHome, 'facts' | 'onChange' | 'changes'>;
  readonly profile: string;
  /** The profile's own folder, which holds `cron` and `sessions`. */
  readonly profileHome: string;
  /** Names of all profiles. Files of a profile that is not there belong to the root. */
  readonly profiles: () => Promise<readonly string[]>;
  readonly onError: (error: unknown) => void;
  /** Of the files and Claude Code alone: nothing is known of any store, so that nothing is judged by it. */
  readonly isAlone?: boolean;
  /** A composition that took longer is not made again at once. */
  readonly quickMs?: number;
}

/** Composing the list may use one part in so many of the time; what takes less than this is done at once. */
const SHARE = 10;
const QUICK_MS = 5;
/** Composing lets others have the thread after this long. */
const SLICE_MS = 8;
/** What was said in sessions of the store is in their entries at once; what follows from it for others waits this long. */
const SAID_MS = 2000;
/** Where more is to be counted than one composition may, the next one comes this much later, or when it is its time. */
const COUNT_MS = 100;
/** Profiles come and go seldom. */
const NAMES_FRESH_MS = 1000;

const NO_TOMBSTONES: readonly TombstoneKind[] = [];
const ORPHAN: readonly TombstoneKind[] = ['ORPHAN'];
const DELETED: readonly TombstoneKind[] = ['DELETED'];
const BOTH: readonly TombstoneKind[] = ['DELETED', 'ORPHAN'];
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** What one composition was made from. */
interface Basis {
  readonly facts: WebUiFacts | null;
  readonly stored: Pick<StoredEntries, 'version' | 'shape'>;
  readonly gateway: ReadonlyMap<string, GatewaySession>;
  readonly cronJobNames: ReadonlyMap<string, string>;
  readonly profiles: readonly string[];
}

/** A composition under way. */
interface Run {
  readonly basis: Basis;
  /** Somebody saw something newer meanwhile. */
  isOutdated: boolean;
}

export class ProfileOverlay implements EntryOverlay {
  readonly #options: ProfileOverlayOptions;
  readonly #gateway = new FileReading<ReadonlyMap<string, GatewaySession>>();
  readonly #cron = new FileReading<ReadonlyMap<string, string>>();
  readonly #compositionListeners = new Set<(ids: readonly string[]) => void>();
  readonly #changeListeners = new Set<() => void>();
  readonly #terminals = new TerminalCounts();
  /** Some sessions still wait to be counted. */
  #isUncounted = false;
  #store: { readonly version: object; readonly forks: ReadonlySet<string>; readonly rows: StoreRows } | null = null;
  #known = new Map<string, Known>();
  #basis: Basis | null = null;
  #composing: { readonly run: Run; readonly done: Promise<void> } | null = null;
  /** Files as of the last saves that were shown without a composition, and whether all of these could be; null: none since the last one. */
  #shown: { readonly files: WebUiFacts['sidecars']; readonly isAll: boolean } | null = null;
  /** Of the last composition; null until it is needed. */
  #tied: ReadonlySet<string> | null = null;
  /** Of the files by this server, up to the last composition. */
  #changes = 0;
  #context: ProjectionContext = NO_CONTEXT;
  #unfollow: (() => void) | null = null;
  #last = { at: Number.NEGATIVE_INFINITY, cost: 0 };
  #later: NodeJS.Timeout | null = null;
  #names: { readonly at: number; readonly names: readonly string[] } | null = null;

  constructor(options: ProfileOverlayOptions) {
    this.#options = options;
  }

  compose(id: string, stored: SessionEntry | undefined): SessionEntry | undefined {
    const known = this.#known.get(id);
    if (known === undefined) return stored;
    const parentId = stored?.parentId ?? known.row.parentSessionId;
    const parent = parentId === null ? undefined : this.#known.get(parentId);
    if (stored !== undefined) return overlaid(stored, known, parent);
    // A row of the store that has gone since the list was made.
    if (known.sidecar === null && known.claude === null) return undefined;
    return outsideEntry(known, parent);
  }

  ids(): Iterable<string> {
    return this.#known.keys();
  }

  async settle(stored: StoredEntries, countUserMessages: UserMessageCounter): Promise<void> {
    const made = this.#options.home.changes;
    for (;;) {
      const { changes } = this.#options.home;
      const basis = await this.#read(stored);
      // Another caller saw a later change of ours meanwhile: what this one read is older than the list.
      if (changes < this.#changes) continue;
      const running = this.#composing;
      if (running === null) return this.#settleOn(basis, stored, countUserMessages, changes);
      // The list as it is will do meanwhile, unless there is none yet, or it lacks a change that we had made.
      if (this.#basis !== null && this.#changes >= made) {
        running.run.isOutdated ||= changeOf(running.run.basis, basis) !== 'NONE';
        return;
      }
      await running.done.catch(() => {});
    }
  }

  onComposition(listener: (ids: readonly string[]) => void): () => void {
    const told = (ids: readonly string[]) => listener(ids);
    this.#compositionListeners.add(told);
    return () => this.#compositionListeners.delete(told);
  }

  onChange(listener: () => void): () => void {
    const told = () => listener();
    this.#changeListeners.add(told);
    this.#unfollow ??= this.#options.home.onChange(() => this.#tell());
    return () => {
      if (!this.#changeListeners.delete(told) || this.#changeListeners.size > 0) return;
      this.#unfollow?.();
      this.#unfollow = null;
      if (this.#later !== null) clearTimeout(this.#later);
      this.#later = null;
    };
  }

  #tell(): void {
    for (const listener of [...this.#changeListeners]) listener();
  }

  #lookLater(waitMs: number): void {
    this.#later ??= setTimeout(() => {
      this.#later = null;
      this.#tell();
    }, waitMs).unref();
  }

  async #read(stored: StoredEntries): Promise<Basis> {
    const facts = await this.#options.home.facts();
    const last = this.#basis;
    if (facts === null)
      return { facts, stored: { version: stored.version, shape: stored.shape }, gateway: NOTHING, cronJobNames: NOTHING, profiles: [] };
    const { profileHome, onError } = this.#options;
    const [gateway, cronJobNames, profiles] = await Promise.all([
      this.#gateway
        .read(join(profileHome, 'sessions', 'sessions.json'), () => readGatewaySessions(profileHome))
        .catch((error: unknown) => {
          onError(error);
          return last?.gateway ?? NOTHING;
        }),
      this.#cron.read(join(profileHome, 'cron', 'jobs.json'), () => readCronJobNames(profileHome)),
      this.#profiles(),
    ]);
    return { facts, stored: { version: stored.version, shape: stored.shape }, gateway, cronJobNames, profiles };
  }

  /** The same list while it says the same. */
  async #profiles(): Promise<readonly string[]> {
    const known = this.#names;
    if (known !== null && performance.now() - known.at < NAMES_FRESH_MS) return known.names;
    const names = await this.#options.profiles();
    this.#names = { at: performance.now(), names: known !== null && isSame(known.names, names) ? known.names : names };
    return this.#names.names;
  }

  /** `changes`: of ours, that `basis` has. */
  async #settleOn(basis: Basis, stored: StoredEntries, countUserMessages: UserMessageCounter, changes: number): Promise<void> {
    const change = this.#basis === null ? 'MORE' : changeOf(this.#basis, basis);
    if (change === 'NONE' && !this.#isUncounted) {
      this.#changes = changes;
      return;
    }
    const { at, cost } = this.#last;
    const wait =
      at + (cost <= (this.#options.quickMs ?? QUICK_MS) ? 0 : Math.max(cost * SHARE, change === 'SAID' ? SAID_MS : 0)) - performance.now();
    if (wait > 0) {
      // Our own changes don't wait: they are shown like this, or the whole list is made.
      if (this.#showSaved(basis, stored)) this.#changes = changes;
      if (changes === this.#changes) {
        this.#lookLater(wait);
        return;
      }
    }
    const run = { basis, isOutdated: false };
    const done = this.#compose(run, stored, countUserMessages, changes).finally(() => {
      this.#composing = null;
    });
    this.#composing = { run, done };
    await done;
  }

  async #compose(run: Run, stored: StoredEntries, countUserMessages: UserMessageCounter, changes: number): Promise<void> {
    const { basis } = run;
    const { value, costMs } = await inSlices(this.#composition(basis, stored, countUserMessages), SLICE_MS);
    const startedAt = performance.now();
    this.#changes = changes;
    this.#shown = null;
    this.#tied = null;
    this.#basis = basis;
    this.#known = value.known;
    if (value.changed.length > 0) for (const listener of [...this.#compositionListeners]) listener(value.changed);
    const cost = costMs + performance.now() - startedAt;
    this.#last = { at: performance.now(), cost };
    if (this.#isUncounted) this.#lookLater(COUNT_MS);
    else if (run.isOutdated) this.#lookLater(cost * SHARE);
  }

  /** What is known of every session, and which ids changed. */
  *#composition(
    basis: Basis,
    stored: StoredEntries,
    countUserMessages: UserMessageCounter,
  ): Steps<{ readonly known: Map<string, Known>; readonly changed: readonly string[] }> {
    const before = this.#known;
    const after = basis.facts === null ? new Map<string, Known>() : yield* this.#knownOf(basis.facts, basis, stored, countUserMessages);
    yield;
    const changed = [...before.keys()].filter((id) => !after.has(id));
    yield* stepwise(after, ([id, known]) => {
      const old = before.get(id);
      if (old !== undefined && isSameKnown(old, known)) after.set(id, old);
      else changed.push(id);
    });
    changed.push(...continuationsOf(changed, before, after));
    return { known: after, changed };
  }

  /**
   * What was saved in sessions that stand by themselves needn't wait until it is time for the whole list. True: with it everything is shown that
   * changed in files since then.
   */
  #showSaved({ facts, stored, ...beside }: Basis, entries: StoredEntries): boolean {
    const basis = this.#basis;
    const rows = this.#store?.rows;
    if (basis === null || rows === undefined || facts === null || basis.facts === null) return false;
    const shown = this.#shown ?? { files: basis.facts.sidecars, isAll: true };
    const isSameBeside =
      beside.gateway === basis.gateway && beside.cronJobNames === basis.cronJobNames && beside.profiles === basis.profiles;
    if (!isSameBeside || stored.shape !== basis.stored.shape) return false;
    if (!isSame({ ...basis.facts, sidecars: null }, { ...facts, sidecars: null })) return false;
    if (shown.files === facts.sidecars) return shown.isAll;
    const found = savedFiles(shown.files.rows, facts.sidecars.rows);
    if (found === null) return false;
    const { saved, isMore } = found;
    this.#tied ??= tiedIds(this.#known);
    const ids = new Set(saved.map(({ id }) => id));
    const now = new Map([...entries.entries()].flatMap((entry) => (ids.has(entry.id) ? [[entry.id, entry] as const] : [])));
    const changed = savedAlone(this.#known, this.#tied, saved, (file, when) => {
      const entry = when === 'NOW' ? now.get(file.id) : rows.sessions.get(file.id);
      const sessions = new Map(entry === undefined ? [] : [[file.id, entry]]);
      return atOnce(this.#listOf(facts, basis, { ...rows, sessions }, new Map([[file.id, file]]), new Map())).get(file.id);
    });
    for (const [id, known] of changed) this.#known.set(id, known);
    if (changed.size > 0) for (const listener of [...this.#compositionListeners]) listener([...changed.keys()]);
    this.#shown = { files: facts.sidecars, isAll: shown.isAll && !isMore && changed.size === saved.length };
    return this.#shown.isAll;
  }

  *#knownOf(facts: WebUiFacts, basis: Basis, stored: StoredEntries, countUserMessages: UserMessageCounter): Steps<Map<string, Known>> {
    const sidecars = ownSidecars(facts.sidecars.rows, this.#options.profile, basis.profiles);
    const isOwnFork = (row: SidecarRow) => isFork(row, sidecars.get(row.parentSessionId ?? '') ?? null);
    const forks = new Set([...sidecars.values()].filter(isOwnFork).map(({ id }) => id));
    const store = this.#storeRows(stored, forks, countUserMessages);
    const claude = new Map(isSameProfile(this.#options.profile, null) ? facts.claude.map((row) => [row.id, row] as const) : []);
    yield;
    return yield* this.#listOf(facts, basis, store, sidecars, claude);
  }

  *#listOf(
    facts: WebUiFacts,
    basis: Basis,
    store: StoreRows,
    sidecars: ReadonlyMap<string, SidecarRow>,
    claude: ReadonlyMap<string, WebUiFacts['claude'][number]>,
  ): Steps<Map<string, Known>> {
    const { settings } = facts;
    const { rows } = yield* composeSteps(this.#inputs(facts, basis, store, [...sidecars.values()], claude), {
      ...DEFAULT_REQUEST,
      profile: this.#options.profile,
      includeArchived: true,
      showCli: settings.showCli,
      showClaudeCode: settings.showClaudeCode,
      showCron: settings.showCron,
      showWebhook: settings.showWebhook,
      showKanban: settings.showKanban,
      showPreviousMessaging: settings.showPreviousMessaging,
      sourceFilter: settings.sourceFilter,
      // Pages take the place of the window.
      window: null,
    });
    const known = (row: ListedRow): Known => ({
      row,
      sidecar: sidecars.get(row.id) ?? null,
      claude: claude.get(row.id) ?? null,
      tombstones: tombstonesOf(facts, row.id),
    });
    return new Map(rows.map((row) => [row.id, known(row)]));
  }

  /**
   * The same object while nothing in the store changed: what the list works out of it is kept by it. The rows of forks may say nothing of it: then
   * their files do (5.1, K2).
   */
  #storeRows(stored: StoredEntries, forks: ReadonlySet<string>, countUserMessages: UserMessageCounter): StoreRows {
    const known = this.#store;
    if (known?.version === stored.version && isSame(known.forks, forks) && !this.#isUncounted) return known.rows;
    const sessions = new Map([...stored.entries()].map((entry) => [entry.id, forks.has(entry.id) ? asBranch(entry) : entry]));
    this.#isUncounted = this.#terminals.read(sessions, countUserMessages);
    const userMessages = (id: string) => this.#terminals.of(id);
    const rows = { profile: this.#options.profile, sessions, userMessages, derivedTitle: () => null };
    this.#store = { version: stored.version, forks, rows };
    return rows;
  }

  #inputs(
    facts: WebUiFacts,
    basis: Basis,
    store: StoreRows,
    sidecars: readonly SidecarRow[],
    claude: ReadonlyMap<string, WebUiFacts['claude'][number]>,
  ): ListInputs {
    const { profile } = this.#options;
    return {
      sidecars: sidecars.map((row) => (isSameProfile(row.profile, profile) ? listRowOf(row) : { ...listRowOf(row), profile })),
      stores: this.#options.isAlone === true ? [] : [{ store, context: this.#contextOf(facts, basis), gateway: basis.gateway }],
      claude: [...claude.values()].map((row) => claudeListRow(row, null)),
      tombstones: { deleted: facts.deleted, zeroMessages: facts.zeroMessages },
      live: { streams: new Set(), attention: new Set() },
    };
  }

  /** The same object while nothing in it changed: rows that were worked out of it are kept by it. */
  #contextOf({ projects }: WebUiFacts, { cronJobNames }: Basis): ProjectionContext {
    const system = (kind: 'CRON' | 'WEBHOOK') =>
      projects.projects.find((project) => project.system === kind && isSameProfile(project.profile, this.#options.profile))?.id ?? null;
    const made = { lastWorkspace: null, cronProjectId: system('CRON'), webhookProjectId: system('WEBHOOK'), cronJobNames };
    if (!isSame(made, this.#context)) this.#context = made;
    return this.#context;
  }
}

/** Sessions whose parent became a snapshot or a fork, or is none any more: they continue it, or branch from it. */
function continuationsOf(changed: readonly string[], before: ReadonlyMap<string, Known>, after: ReadonlyMap<string, Known>): string[] {
  const kindOf = (known: Known | undefined) => `${known?.row.isSnapshot} ${fold(known?.sidecar?.sessionSource)}`;
  const turned = new Set(changed.filter((id) => kindOf(before.get(id)) !== kindOf(after.get(id))));
  if (turned.size === 0) return [];
  return [...after].flatMap(([id, { row }]) => (row.parentSessionId !== null && turned.has(row.parentSessionId) ? [id] : []));
}

function tombstonesOf({ deleted, zeroMessages }: WebUiFacts, id: string): readonly TombstoneKind[] {
  if (!deleted.has(id)) return zeroMessages.has(id) ? ORPHAN : NO_TOMBSTONES;
  return zeroMessages.has(id) ? BOTH : DELETED;
}

/** SAID: only what was said in sessions of the store is another. */
function changeOf(a: Basis, b: Basis): 'NONE' | 'SAID' | 'MORE' {
  const isSameBeside = a.facts === b.facts && a.gateway === b.gateway && a.cronJobNames === b.cronJobNames && a.profiles === b.profiles;
  if (!isSameBeside) return 'MORE';
  if (b.facts === null || a.stored.version === b.stored.version) return 'NONE';
  return a.stored.shape === b.stored.shape ? 'SAID' : 'MORE';
}
