/** The process behind `web-ui-turn.ts`. */
import { WebUiHost } from './web-ui-host.ts';
import type { UiAnswer, UiRequest } from './web-ui-turn.ts';

const [home = '', profile = 'default', statePath = ''] = process.argv.slice(2);
const host = new WebUiHost(home, profile, statePath);

/** The end of the commands that were given for a session. */
const queues = new Map<string, Promise<void>>();

process.on('message', (request: UiRequest) => {
  const session = sessionOf(request);
  const before = queues.get(session) ?? Promise.resolve();
  queues.set(
    session,
    before.then(() => answer(request)),
  );
});

/** The first argument is the session, or names it. */
function sessionOf({ args: [first] }: UiRequest): string {
  return typeof first === 'object' && first !== null && 'sessionId' in first ? String(first.sessionId) : String(first);
}

async function answer({ id, command, args }: UiRequest): Promise<void> {
  try {
    const run = host[command] as (...args: readonly unknown[]) => unknown;
    tell({ id, result: await run.apply(host, [...args]) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    tell({ id, error: { message: error instanceof Error ? error.message : String(error), code } });
  }
}

function tell(message: UiAnswer): void {
  if (process.connected) process.send?.(message);
}

process.on('disconnect', () => {
  void Promise.all(queues.values()).then(() => host.close());
});
tell({ id: 0 });
