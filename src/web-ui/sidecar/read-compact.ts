/** A session file as a row of the Web UI's index, read whole; large ones in a thread of their own. */
import { type CompactSidecar, compactSidecar } from './compact-sidecar.ts';
import { MAX_INLINE_BYTES, MAX_WHOLE_BYTES, readSteadily, wholeFiles, withSidecar } from './read-sidecar.ts';
import { inSidecarThread } from './sidecar-threads.ts';

/** Null when there is no such file, it is no session, or it is over the limit. Throws `SidecarUnreadable`. */
export async function readCompact(sessionsDir: string, id: string): Promise<CompactSidecar | null> {
  return withSidecar(sessionsDir, id, (file) =>
    wholeFiles.run(async () => {
      if (file.size > MAX_WHOLE_BYTES) return null;
      const { bytes, signature } = await readSteadily(file);
      if (bytes.length <= MAX_INLINE_BYTES) return compactSidecar(bytes, id, signature);
      return inSidecarThread({ task: 'COMPACT', bytes, id, signature });
    }),
  );
}
