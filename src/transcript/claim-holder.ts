/**
 * Who holds a claimed spool file (`spec/state-db-writes.md` S10). A claim may be taken over after 300 s; earlier only when the process that
 * made it is known to be gone, so that a server that was restarted goes on where it stopped, before newer messages are written.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from './spool-files.ts';

export interface ClaimHolder {
  readonly pid: number;
  /** Of our own claims: 12 hex digits that stand for the space of process ids, then 16 at random. */
  readonly nonce: string;
}

const SPACE_DIGITS = 12;
const UNKNOWN_SPACE = '0'.repeat(SPACE_DIGITS);
const NONCE = /^[0-9a-f]{28}$/;
const MAX_PID = 0x7fff_ffff;

/** This process, with a new nonce. */
export function newHolder(): ClaimHolder {
  return { pid: process.pid, nonce: ownSpace() + randomBytes(8).toString('hex') };
}

/** True only when the holder's process id is one of this machine and this container, and no process has it. */
export function isGone({ pid, nonce }: ClaimHolder): boolean {
  const space = NONCE.test(nonce) ? nonce.slice(0, SPACE_DIGITS) : UNKNOWN_SPACE;
  if (space === UNKNOWN_SPACE || space !== ownSpace() || pid > MAX_PID) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

let knownSpace: string | null = null;

/** A process id means something only within one boot and one namespace of process ids; elsewhere than on Linux that is not known. */
function ownSpace(): string {
  knownSpace ??= readSpace();
  return knownSpace;
}

function readSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const text = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    return createHash('sha256').update(text).digest('hex').slice(0, SPACE_DIGITS);
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return UNKNOWN_SPACE;
  }
}
