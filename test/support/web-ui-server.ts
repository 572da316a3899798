/**
 * Servers over homes with a Web UI's folder, and mutations on them.
 */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fixturesDir } from './golden.ts';
import { type Settings, startInProcess, storePathOf, type TestServer } from './server.ts';
import { type Fields, sidecarPath, sidecarText } from './sidecars.ts';
import { buildStore, type Row, temporaryFolder } from './stores.ts';

export interface WebUiServer extends TestServer {
  readonly sessionsDir: string;
  readonly webUiDir: string;
}

export interface WebUiSpec {
  readonly rows?: readonly Row[];
  /** The text of each session file, or its fields. */
  readonly files?: Readonly<Record<string, string | Fields>>;
  /** `projects.json`. */
  readonly projects?: unknown;
  readonly allowWrites?: boolean;
  readonly settings?: Settings;
  /** More profiles, with the rows of their stores. */
  readonly profiles?: Readonly<Record<string, readonly Row[]>>;
}

/** A server over a store with these rows and a folder with these files. */
export async function startWebUi({
  rows = [],
  files = {},
  projects,
  allowWrites = true,
  settings = {},
  profiles = {},
}: WebUiSpec): Promise<WebUiServer> {
  const home = dirname(buildStore({ schema: 31, rows }));
  const sessionsDir = join(home, 'webui', 'sessions');
  mkdirSync(sessionsDir, { recursive: true });
  for (const [id, file] of Object.entries(files)) {
    writeFileSync(sidecarPath(sessionsDir, id), typeof file === 'string' ? file : sidecarText(id, file, MESSAGES));
  }
  if (projects !== undefined) writeFileSync(join(home, 'webui', 'projects.json'), JSON.stringify(projects, null, 2));
  for (const [name, more] of Object.entries(profiles)) {
    mkdirSync(join(home, 'profiles', name), { recursive: true });
    renameSync(buildStore({ schema: 31, rows: more }), storePathOf(home, name));
  }
  return startOver(home, allowWrites, settings);
}

export const MESSAGES = [
  { role: 'user', content: 'Hello', timestamp: 1_782_000_000 },
  { role: 'assistant', content: 'Good day', timestamp: 1_782_000_001 },
];

/** A server over a copy of the home that the Web UI itself wrote. */
export async function startUpstreamHome(allowWrites = true): Promise<WebUiServer> {
  const home = join(temporaryFolder(), 'home');
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
  return startOver(home, allowWrites, {});
}

async function startOver(home: string, allowWrites: boolean, settings: Settings): Promise<WebUiServer> {
  const server = await startInProcess({ home, settings: { ...(allowWrites ? { allowWrites: true } : {}), ...settings } });
  return Object.assign(server, { webUiDir: join(home, 'webui'), sessionsDir: join(home, 'webui', 'sessions') });
}

export type Answered = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** Runs a mutation and gives its answer; `fields` are those of the payload. */
export async function mutate(server: TestServer, name: string, input: object, fields = 'clientMutationId'): Promise<Answered> {
  const type = name.charAt(0).toUpperCase() + name.slice(1);
  const query = `mutation ($input: ${type}Input!) { answer: ${name}(input: $input) {
    __typename ... on ${type}Payload { ${fields} } ... on UserError { code message details settled retryable } } }`;
  const { data, errors } = await server.query<{ answer: Answered }, { input: object }>(query, { input });
  if (data == null || errors.length > 0) throw new Error(JSON.stringify(errors));
  return data.answer;
}

export function fileText(server: WebUiServer, id: string): string {
  return readFileSync(sidecarPath(server.sessionsDir, id), 'utf8');
}

export function fileFields(server: WebUiServer, id: string): Fields {
  return JSON.parse(fileText(server, id)) as Fields;
}

export interface SeenSession {
  readonly sessionId: string;
  readonly title: string | null;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly origins: readonly string[];
  readonly project: { readonly projectId: string } | null;
  readonly sidecar: { readonly signature: string; readonly health: string; readonly personality: string | null } | null;
}

/** A session as clients see it. */
export async function seen(server: TestServer, sessionId: string): Promise<SeenSession> {
  const { session } = await server.read<{ session: SeenSession | null }, { sessionId: string }>(
    `query ($sessionId: String!) { session(sessionId: $sessionId) {
      sessionId title pinned archived origins project { projectId } sidecar { signature health personality } } }`,
    { sessionId },
  );
  if (session === null) throw new Error(`there is no session ${sessionId}`);
  return session;
}
