/**
 * The Hermes profiles of this machine and their stores (`spec/state-db.md` 1; `field-cases` F74). One store object a profile, opened at
 * first use; nothing here is a "current profile" that one client could change for another.
 */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { InvalidInput } from './errors.ts';
import type { SessionStore } from './session-store.ts';

const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const ROOT_PROFILE = 'default';

export interface HermesHome {
  /** The folder that holds state.db and profiles/. */
  readonly root: string;
  /** The profile of the folder that was named: `default` for the root itself. */
  readonly profile: string;
}

/** The root above a home, and which of its profiles the home is. */
export function locateHome(home: string, platformDefault = join(homedir(), '.hermes')): HermesHome {
  const isUnder = (path: string, parent: string) => path === parent || !relative(parent, path).startsWith('..');
  const named = basename(dirname(home)) === 'profiles' && PROFILE_NAME.test(basename(home)) ? basename(home) : null;
  if (isUnder(home, platformDefault)) return { root: platformDefault, profile: named ?? ROOT_PROFILE };
  return named === null ? { root: home, profile: ROOT_PROFILE } : { root: dirname(dirname(home)), profile: named };
}

/** Names of all profiles with a folder below the root, the root's first, then by name. */
export async function profileNames(root: string): Promise<string[]> {
  try {
    const entries = await readdir(join(root, 'profiles'), { withFileTypes: true });
    const names = entries.filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && PROFILE_NAME.test(entry.name) && entry.name !== ROOT_PROFILE,
    );
    return [ROOT_PROFILE, ...names.map((entry) => entry.name).sort()];
  } catch (error) {
    // A home without named profiles is the usual case; one that can't be listed still has its own store.
    void error;
    return [ROOT_PROFILE];
  }
}

/** Where the store of a profile lies. */
export function storePathOf(root: string, profile: string): string {
  return profile === ROOT_PROFILE ? join(root, 'state.db') : join(root, 'profiles', profile, 'state.db');
}

/** `hint`: how to find out which there are. */
export function noSuchProfile(name: string, hint: string): InvalidInput {
  return new InvalidInput(`There is no profile ${JSON.stringify(name.slice(0, 80))} on this machine. ${hint}`, {}, 'PROFILE_NOT_FOUND');
}

export class ProfileRegistry {
  readonly home: HermesHome;
  readonly defaultProfile: string;
  readonly #open: (profile: string, path: string) => SessionStore;
  readonly #stores = new Map<string, SessionStore>();

  /** `open` makes the store of a profile from the path of its state.db. */
  constructor(home: HermesHome, defaultProfile: string | null, open: (profile: string, path: string) => SessionStore) {
    this.home = home;
    this.defaultProfile = defaultProfile ?? home.profile;
    this.#open = open;
  }

  /** Names of all profiles with a folder, the root's first, then by name. */
  names(): Promise<string[]> {
    return profileNames(this.home.root);
  }

  /** The store of a profile; null and undefined mean the default one. Throws `InvalidInput` with PROFILE_NOT_FOUND. */
  async store(profile?: string | null): Promise<SessionStore> {
    const name = profile ?? this.defaultProfile;
    const known = this.#stores.get(name);
    if (known !== undefined) return known;
    if (!(await this.names()).includes(name)) throw noSuchProfile(name, 'Ask for profiles { name } to see them.');
    return this.#stores.get(name) ?? this.#add(name);
  }

  /** The store of a profile that was asked for before. */
  opened(profile: string): SessionStore {
    const store = this.#stores.get(profile);
    if (store === undefined) throw new Error(`the store of profile ${profile} was not opened`);
    return store;
  }

  async stores(): Promise<SessionStore[]> {
    return Promise.all((await this.names()).map((name) => this.store(name)));
  }

  close(): void {
    for (const store of this.#stores.values()) store.close();
    this.#stores.clear();
  }

  #add(name: string): SessionStore {
    const store = this.#open(name, storePathOf(this.home.root, name));
    this.#stores.set(name, store);
    return store;
  }
}
