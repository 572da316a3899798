/**
 * The configuration of a session, patched.
 */
import { isJsonObject } from '../src/state-db/decode.ts';
import type { ConfigPatch, PatchedConfig } from '../src/state-db/write/session-config.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';
import { transcriptMessage } from './transcript-input.ts';
import { type WriteArguments, type WritePayload, write } from './writes.ts';

const LARGEST_PATCH_BYTES = 256 * 1024;

export type ConfigPayload = PatchedConfig & WritePayload;

export async function patchSessionConfig(
  args: WriteArguments & { readonly sessionId: string; readonly patch?: unknown },
  ctx: Context,
): Promise<ConfigPayload> {
  return write(ctx, 'patchSessionConfig', args, { sessionId: args.sessionId, patch: checkedPatch(args.patch, 'patch') });
}

/** Throws VALIDATION for what is no object, too large or too deep. */
export function checkedPatch(patch: unknown, name: string): ConfigPatch {
  if (!isJsonObject(patch)) throw new WriteRefused('VALIDATION', `${name} is an object.`);
  if (Buffer.byteLength(JSON.stringify(patch)) > LARGEST_PATCH_BYTES) {
    throw new WriteRefused('VALIDATION', `${name} is larger than ${LARGEST_PATCH_BYTES} bytes of JSON.`);
  }
  transcriptMessage({ role: 'user', content: patch }, name);
  return patch;
}
