/**
 * What the configurations of a profile and of the server say about new sessions (`spec/webui-listing.md` 15.1, 15.2).
 */
import { dirname } from 'node:path';
import { ROOT_PROFILE } from '../profiles.ts';
import { type ConfigReading, readProfileConfig } from '../web-ui/profile-config.ts';
import { effectiveDefaultModel, hasRemoteTerminal, type WorkspacePlaces } from '../web-ui/session-defaults.ts';
import type { CommandHost } from './command.ts';

export interface ProfileDefaults {
  readonly own: ConfigReading;
  /** The root profile's; the same for that one. */
  readonly server: ConfigReading;
  readonly places: WorkspacePlaces;
  /** Where the profile's configuration names no model. Empty: none. */
  readonly model: string;
}

/** Read anew each time: people edit these files. */
export async function profileDefaults(host: CommandHost): Promise<ProfileDefaults> {
  const profileHome = host.profile === ROOT_PROFILE ? null : host.home;
  const own = await readProfileConfig(host.home);
  const server = profileHome === null ? own : await readProfileConfig(dirname(dirname(profileHome)));
  const serverDefault = process.env.HERMES_WEBUI_DEFAULT_WORKSPACE?.trim() || null;
  return {
    own,
    server,
    places: { stateDir: host.webUiDir, profileHome, config: own.config, remoteTerminal: hasRemoteTerminal(own.config), serverDefault },
    model: effectiveDefaultModel(server.config, process.env),
  };
}
