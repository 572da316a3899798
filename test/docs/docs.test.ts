import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isEnumType, isInputObjectType, isInterfaceType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { SETTINGS } from '../../src/config.ts';
import { REFUSALS } from '../../src/write-refused.ts';

const read = (path: string) => readFileSync(path, 'utf8');

describe('the documentation', () => {
  test('docs/configuration.md is the table of settings', () => {
    const rows = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const expected = Object.values(SETTINGS).map(
      ({ flag, environment, shownDefault, meaning }) =>
        `| \`${flag}\` | \`${environment}\` | ${shownDefault === '' ? '' : `\`${shownDefault}\``} | ${meaning} |`,
    );
    expect(rows).toEqual(expected);
  });

  test('the help of the command names every flag and variable', () => {
    const { stdout, status } = spawnSync(process.execPath, ['src/cli.ts', 'serve', '--help'], { encoding: 'utf8' });
    expect(status).toBe(0);
    const help = stdout.replace(/\s+/g, ' ');
    for (const { flag, environment } of Object.values(SETTINGS)) {
      expect(help).toContain(flag);
      expect(help).toContain(environment);
    }
  });

  test('docs/api.md names every root field', () => {
    const api = read('docs/api.md');
    const roots = [schema.getQueryType(), schema.getSubscriptionType()].flatMap((type) => Object.keys(type?.getFields() ?? {}));
    expect(roots.filter((name) => !new RegExp(`\`${name}\``).test(api))).toEqual([]);
  });

  test('the pages about writing name every mutation', () => {
    const pages = readdirSync('docs').filter((name) => name.startsWith('writing'));
    const text = pages.map((name) => read(join('docs', name))).join('\n');
    const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
    expect(mutations.filter((name) => !new RegExp(`\`${name}[\`(]`).test(text))).toEqual([]);
  });

  test('docs/writing.md holds the table of refusals, and its query is a valid one', () => {
    const page = read('docs/writing.md');
    const yes = (value: boolean) => (value ? 'yes' : 'no');
    const expected = Object.entries(REFUSALS).map(
      ([code, { retryable, settled, message }]) => `| \`${code}\` | ${yes(retryable)} | ${yes(settled)} | ${message} |`,
    );
    expect(page.split('\n').filter((line) => /^\| `[A-Z]+_?[A-Z_]*` \| (yes|no)/.test(line))).toEqual(expected);
    const [, query = ''] = /```graphql\n([\s\S]+?)```/.exec(page) ?? [];
    expect(validate(schema, parse(query))).toEqual([]);
  });

  test('docs/live-protocol.md names every event, reset and option, and its query is a valid one', () => {
    const page = read('docs/live-protocol.md');
    const event = schema.getType('LiveEvent');
    const reset = schema.getType('StreamResetReason');
    const options = schema.getType('LiveOptions');
    if (!isInterfaceType(event) || !isEnumType(reset) || !isInputObjectType(options)) throw new Error('the schema has no live turns');
    const names = [
      ...schema.getPossibleTypes(event).map(({ name }) => name),
      ...reset.getValues().map(({ name }) => name),
      ...Object.keys(options.getFields()),
    ];
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
    const [, query = ''] = /```graphql\n([\s\S]+?)```/.exec(page) ?? [];
    expect(validate(schema, parse(query))).toEqual([]);
  });

  test('docs/api.md names every error code that the code raises', () => {
    const sources = ['src', 'resolvers', 'schema'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    );
    const raised = new Set<string>();
    for (const file of sources.filter((path) => path.endsWith('.ts') && !path.includes('demo'))) {
      for (const [, code] of read(file).matchAll(/(?:, '|code: '|CaduceusError\(\s*')([A-Z]+(?:_[A-Z]+)+)'(?=\)|,| )/g))
        if (code !== undefined) raised.add(code);
    }
    const api = read('docs/api.md');
    const start = new Set([
      'ADDRESS_IN_USE',
      'ADDRESS_UNAVAILABLE',
      'TOKEN_FILE_DAMAGED',
      'DEMO_DIRECTORY_IN_USE',
      'SHUTTING_DOWN',
      'METHOD_NOT_ALLOWED',
    ]);
    const codes = [...raised].filter(
      (code) =>
        !start.has(code) &&
        /^(?:BAD|STALE|AMBIGUOUS|PROFILE|TIME_LIMIT|TRANSCRIPT|TOO_|BATCH|BODY|FOREIGN_[HO]|UNSUPPORTED|CURSOR|JOB)/.test(code),
    );
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter((code) => !api.includes(code))).toEqual([]);
  });

  test('links and pictures lead somewhere', () => {
    for (const file of [
      'README.md',
      ...readdirSync('docs')
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ]) {
      for (const [, target] of read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (target === undefined || /^[a-z]+:/.test(target)) continue;
        expect(existsSync(join(dirname(file), target)), `${file} -> ${target}`).toBe(true);
      }
    }
  });
});
