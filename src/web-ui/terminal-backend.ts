/** Where the commands of a profile run, by its `config.yaml`: paths of another machine can't be looked at here (`spec/webui-listing.md` 17.2). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import type { TerminalBackend } from './list/workspace-binding.ts';

/** A larger one is none that a person wrote. */
const MOST_CHARACTERS = 1_000_000;
const BLOCK = /^terminal:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n|[ \t]*(?:#.*)?\n)*)/m;
const BACKEND = /^[ \t]+backend:[ \t]*(["']?)(\w+)\1[ \t]*(?:#.*)?$/gm;

export async function readTerminalBackend(profileHome: string): Promise<TerminalBackend> {
  try {
    return terminalBackend(await readFile(join(profileHome, 'config.yaml'), 'utf8'));
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code === 'ENOENT' ? 'LOCAL' : 'UNREADABLE';
  }
}

/** Understands the block that the agent writes; what says something of a terminal in another way is UNREADABLE, never guessed at. */
export function terminalBackend(config: string): TerminalBackend {
  if (config.length > MOST_CHARACTERS) return 'UNREADABLE';
  const text = `${config.replaceAll('\r\n', '\n')}\n`;
  if (!text.includes('terminal')) return 'LOCAL';
  const block = BLOCK.exec(text)?.[1];
  if (block === undefined) return /^["']?terminal/m.test(text) || text.trimStart().startsWith('{') ? 'UNREADABLE' : 'LOCAL';
  const named = [...block.matchAll(BACKEND)].map((match) => match[2]);
  if (named.length === 0) return block.includes('backend') || block.includes('<<') ? 'UNREADABLE' : 'LOCAL';
  if (named.length > 1) return 'UNREADABLE';
  return named[0] === 'local' ? 'LOCAL' : 'REMOTE';
}
