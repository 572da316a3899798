/** The typed documents are what `npm run codegen` makes of the printed schema and of the documents that stand in tests and examples. */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/stores.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function contents(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

it('test/generated and examples/generated are up to date', () => {
  const copy = temporaryFolder();
  for (const path of ['codegen.ts', 'package.json', 'schema/schema.graphql', 'test', 'examples']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: (source) => !source.endsWith('/generated') });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'codegen'], { cwd: copy, encoding: 'utf8' });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  for (const folder of ['test/generated', 'examples/generated']) {
    // Long texts with little in common: names are enough, and say what to do.
    const [expected, found] = [contents(join(copy, folder)), contents(join(ROOT, folder))];
    const stale = [...new Set([...Object.keys(expected), ...Object.keys(found)])].filter((name) => expected[name] !== found[name]);
    expect(stale, `${folder} is stale: npm run codegen`).toEqual([]);
  }
});
