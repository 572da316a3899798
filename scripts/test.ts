/**
 * `npm test`: style and import direction, types, the printed schema, generated documents, then every test. Arguments go to the tests.
 */
import { spawnSync } from 'node:child_process';

const STEPS: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['style and imports', 'biome', ['check', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['printed schema', process.execPath, ['scripts/print-schema.ts', '--check']],
  ['tests', 'vitest', ['run', ...process.argv.slice(2)]],
];

for (const [name, command, args] of STEPS) {
  const start = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.error(`${status === 0 ? 'ok' : 'FAILED'}: ${name} (${seconds} s)`);
  if (status !== 0) process.exit(status ?? 1);
}
