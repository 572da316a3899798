/**
 * Which session files belong to a profile: the folder is shared by all (`spec/webui-listing.md` 1, 9.2).
 */
import { isSameProfile } from './projects/projects-file.ts';
import type { SidecarRow } from './sidecar/sidecar-row.ts';

/** Tells of a file's profile whether it is this one. Files of a profile that is not there belong to the root. `profiles`: all names. */
export function ownProfile(profile: string, profiles: readonly string[]): (named: string | null) => boolean {
  const others = new Set(profiles.filter((name) => !isSameProfile(name, profile)));
  const isRoot = isSameProfile(profile, null);
  return (named) => isSameProfile(named, profile) || (isRoot && !others.has(named ?? ''));
}

/** The files of the profile. */
export function ownSidecars(
  rows: ReadonlyMap<string, SidecarRow>,
  profile: string,
  profiles: readonly string[],
): ReadonlyMap<string, SidecarRow> {
  const isOwn = ownProfile(profile, profiles);
  return new Map([...rows].filter(([, row]) => isOwn(row.profile)));
}
