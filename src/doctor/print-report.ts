/** A report as text for a terminal. Names of sessions and files come from stores: what a terminal would obey is written out. */
import type { DoctorReport } from './examine.ts';
import type { Finding } from './finding.ts';
import { SEVERITIES, type Severity } from './kind.ts';

const HEADINGS: Readonly<Record<Severity, string>> = { ERROR: 'Errors', WARNING: 'Warnings', INFO: 'Worth knowing' };
/** Controls of both tables, marks that turn the direction of text, and separators of lines. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function printedReport({ profile, deep, findings, checks, healthy }: DoctorReport): string {
  const lines = SEVERITIES.flatMap((severity) => section(severity, findings));
  const unfinished = checks.filter(({ state }) => state === 'FAILED' || state === 'TIMED_OUT').map(({ name }) => name);
  const skipped = checks.filter(({ state }) => state === 'SKIPPED').length;
  const verdict = healthy ? 'Healthy' : 'Not healthy';
  const left = skipped === 0 ? '' : `, ${skipped} left out${deep ? '' : ' (--deep makes them)'}`;
  const failed = unfinished.length === 0 ? '' : ` Not completed: ${unfinished.join(', ')}.`;
  return `${[...lines, `${verdict}: profile ${printable(profile)}, ${checks.length - skipped} checks${left}.${failed}`].join('\n')}\n`;
}

function section(severity: Severity, findings: readonly Finding[]): string[] {
  const found = findings.filter((each) => each.severity === severity);
  if (found.length === 0) return [];
  return [`${HEADINGS[severity]} (${found.length})`, ...grouped(found), ''];
}

/** The sentence of a code once, its subjects below it. */
function grouped(findings: readonly Finding[]): string[] {
  const groups = Map.groupBy(findings, ({ code, message }) => `${code}: ${message}`);
  return [...groups].flatMap(([head, each]) => {
    const remedies = new Set(each.map(({ remedy }) => remedy));
    const [shared] = remedies.size === 1 && each.length > 1 ? remedies : [null];
    const own = shared == null ? each : each.map((one) => ({ ...one, remedy: null }));
    return [`  ${printable(head)}`, ...own.flatMap(ofFinding), ...(shared == null ? [] : [`      ${printable(shared)}`])];
  });
}

function ofFinding({ subject, count, remedy }: Finding): string[] {
  const times = count > 1 ? ` (${count})` : '';
  const about = subject === null ? (times === '' ? [] : [`    -${times}`]) : [`    - ${printable(subject)}${times}`];
  return remedy === null ? about : [...about, `      ${printable(remedy)}`];
}

/** The text without anything that moves a cursor, changes a colour or begins a new line. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
