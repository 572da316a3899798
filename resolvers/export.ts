/**
 * Sessions as files to take along.
 */
import { CaduceusError } from '../src/errors.ts';
import type { WrittenExport } from '../src/state-db/write-export.ts';
import { WriteRefused } from '../src/write-refused.ts';
import type { Context } from './context.ts';

export interface ExportArguments {
  readonly sessionId: string;
  readonly profile?: string | null | undefined;
  readonly scope?: 'SEGMENT' | 'LINEAGE' | null | undefined;
  readonly includeArchivedRows?: boolean | null | undefined;
}

export interface ExportPayload extends WrittenExport {
  readonly url: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

export async function exportSession(args: ExportArguments, ctx: Context): Promise<ExportPayload> {
  const { sessionId } = args;
  const store = await ctx.store(args.profile);
  const file = await ctx.services.exports.add(sessionId);
  let written: WrittenExport | null = null;
  try {
    const scope = args.scope ?? 'SEGMENT';
    written = await store.writeExport({ sessionId, scope, includeArchivedRows: args.includeArchivedRows ?? false, path: file.path });
  } catch (error) {
    if (error instanceof CaduceusError && error.code === 'EXPORT_TOO_LARGE') {
      throw new WriteRefused('EXPORT_TOO_LARGE', '', { cause: error, details: { ...error.details } });
    }
    throw error;
  } finally {
    if (written === null) await ctx.services.exports.remove(file);
  }
  if (written === null) throw new WriteRefused('NOT_FOUND', 'There is no such session.');
  return { ...written, url: `/exports/${file.id}`, expiresAt: file.expiresAt / 1000 };
}
