/**
 * Another program that saves session files in a loop, as a running Web UI does: the whole session from its memory, written beside the file,
 * flushed and renamed over it. What it saves follows from the number of the round, so that a mix of two saves shows.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Fields, sidecarText } from './sidecars.ts';

/** Messages come and go with the rounds, and the file's length with them. */
const MOST_MESSAGES = 40;

export function countOf(round: number): number {
  return (round * 7) % MOST_MESSAGES;
}

/** The text of a session's file in a round: every part of it tells the round. */
export function textOf(sessionId: string, round: number): string {
  const messages = Array.from({ length: countOf(round) }, (_, index) => ({
    role: 'user',
    content: `round ${round}, ${index} ${'x'.repeat(200)}`,
  }));
  const fields: Fields = {
    title: `Round ${round}`,
    created_at: 1,
    updated_at: 1_782_000_000 + round,
    nobody_knows: { round, text: 'ü'.repeat(round % 50) },
  };
  return sidecarText(sessionId, fields, messages, { behind: round });
}

export interface Saver {
  /** Ends after the save under way. */
  stop(): Promise<void>;
  /** Rounds that it told of. */
  readonly rounds: () => number;
}

export async function startSaver(sessionsDir: string, sessionIds: readonly string[]): Promise<Saver> {
  const child = fork(new URL('./web-ui-saver-process.ts', import.meta.url), [sessionsDir, ...sessionIds], { execArgv: [] });
  let rounds = 0;
  child.on('message', (round) => {
    rounds = Number(round);
  });
  await once(child, 'message');
  return {
    rounds: () => rounds,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.send('STOP');
      await once(child, 'exit');
    },
  };
}
