/**
 * The projects of one profile (`spec/webui-listing.md` 13.2, 13.4).
 */
import type { WebUiFacts } from '../web-ui-home.ts';
import { isSameProfile, ownerOfLegacy, type Project } from './projects-file.ts';

/** A project with the profile that it belongs to. */
export type OwnedProject = Omit<Project, 'profile'> & { readonly profile: string };

/** In the order of the file. An entry without an owner belongs to that of its first session. */
export function projectsOf({ projects, sidecars }: Pick<WebUiFacts, 'projects' | 'sidecars'>, profile: string): OwnedProject[] {
  return projects.projects.flatMap((project) => {
    const owner = project.profile ?? ownerOfLegacy(project.id, sidecars.rows.values());
    return isSameProfile(owner, profile) ? [{ ...project, profile }] : [];
  });
}
