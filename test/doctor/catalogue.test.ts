/** The table of findings: documented, and every remedy is a mutation that there is. */
import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../schema/index.ts';
import { CODES, type CodeName, FINDINGS } from '../../src/doctor/catalogue.ts';
import { finding, findings } from '../../src/doctor/finding.ts';
import type { Kind } from '../../src/doctor/kind.ts';
import { printable, printedReport } from '../../src/doctor/print-report.ts';

const VALUES: Partial<Record<CodeName, Record<string, string>>> = {
  SIDECAR_CORRUPT: { backup: 'yes' },
  ROUTE_TO_COMPRESSED: { sessionKey: 'telegram:1', scope: 'x', expectedSessionId: 'a' },
  SPOOL_INVALID: { spoolId: 'f'.repeat(32), expectedDigest: 'abc' },
};

const REMEDIES = CODES.flatMap((code) => {
  const { remedy } = finding(code, 'work', { subject: 'a"b\n', values: VALUES[code] ?? {} });
  return remedy === null ? [] : [[code, remedy] as const];
});

describe('the findings of the doctor', () => {
  it.each(REMEDIES)('%s names a mutation that there is: %s', (_, remedy) => {
    const document = parse(`mutation { ${remedy} { __typename } }`);
    expect(validate(schema, document)).toEqual([]);
  });

  it('every code with a remedy gives one for the cases that it is for', () => {
    const withRemedy = CODES.filter((code) => (FINDINGS[code] as Kind).remedy !== undefined);
    expect(REMEDIES.map(([code]) => code)).toEqual(withRemedy);
  });

  it('docs/doctor.md is the table of codes', () => {
    const rows = readFileSync('docs/doctor.md', 'utf8')
      .split('\n')
      .filter((line) => /^\| `[A-Z_0-9]+` \|/.test(line));
    const expected = CODES.map((code) => {
      const { area, severity, message }: Kind = FINDINGS[code];
      const name = /^\w+/.exec(REMEDIES.find(([each]) => each === code)?.[1] ?? '')?.[0];
      return `| \`${code}\` | ${severity} | ${area} | ${message} | ${name === undefined ? '' : `\`${name}\``} |`;
    });
    expect(rows).toEqual(expected);
  });

  it('subjects stand in a remedy as text of GraphQL, and nothing of them in a sentence', () => {
    const hostile = finding('STALE_PENDING_TURN', 'default', { subject: 'a"}) { x }\u001b[31m' });
    expect(hostile.remedy).toContain('sessionId: "a\\"}) { x }\\u001b[31m"');
    expect(hostile.message).toBe(FINDINGS.STALE_PENDING_TURN.message);
  });

  it('many of a kind are told by the first ones and a number', () => {
    expect(findings('PARENT_MISSING', 'default', { count: 5, ids: ['a', 'b'] }).map(({ subject, count }) => [subject, count])).toEqual([
      ['a', 1],
      ['b', 1],
      [null, 3],
    ]);
    expect(findings('PARENT_MISSING', 'default', { count: 0, ids: [] })).toEqual([]);
  });
});

describe('the printed report', () => {
  it('has the worst first, and nothing that a terminal obeys', () => {
    const found = [
      finding('SIDECAR_CORRUPT', 'default', { subject: 'a\u001b[2J\u202e\nb' }),
      finding('SIDECAR_CORRUPT', 'default', { subject: 'c' }),
      finding('MESSAGES_WITHOUT_SESSION', 'default', { count: 7 }),
    ];
    const check = { name: 'rows', area: 'ROWS', state: 'TIMED_OUT', durationMs: 1 } as const;
    const text = printedReport({ profile: 'default', deep: false, healthy: false, findings: found, checks: [check], checkedAt: 0 });
    expect(text).toBe(`Errors (2)
  SIDECAR_CORRUPT: ${FINDINGS.SIDECAR_CORRUPT.message}
    - a\\u001b[2J\\u202e\\u000ab
    - c

Worth knowing (1)
  MESSAGES_WITHOUT_SESSION: ${FINDINGS.MESSAGES_WITHOUT_SESSION.message}
    - (7)

Not healthy: profile default, 1 checks. Not completed: rows.
`);
    expect(printable('e\u0301 \u{1f600} \u{e0001}')).toBe('e\u0301 \u{1f600} \\u{e0001}');
  });
});
