/** The page about what the Web UI's files cost. */
import type { FilesPlan } from './files.ts';

export interface FileFigure {
  readonly name: string;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of doing the same plainly; null where there is nothing to compare with. */
  readonly plainMs: number | null;
  readonly plain: string;
}

export interface WebUiFigures {
  readonly machine: string;
  readonly load: string;
  readonly isJudged: boolean;
  readonly plan: FilesPlan;
  readonly sessions: number;
  readonly megabytes: number;
  readonly figures: readonly FileFigure[];
}

export function webUiPage({ machine, load, isJudged, plan, sessions, megabytes, figures }: WebUiFigures): string {
  const number = (value: number, digits = 0) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const ms = (value: number) => number(value, value < 10 ? 1 : 0);
  const rows = figures.map(({ name, requests, p50Ms, p95Ms, plainMs, plain }) => {
    const ratio = plainMs === null ? '' : number(p50Ms / plainMs, 2);
    return `| ${name} | ${requests} | ${ms(p50Ms)} | ${ms(p95Ms)} | ${plain} | ${plainMs === null ? '' : ms(plainMs)} | ${ratio} |`;
  });
  return `# What the Web UI's files cost

Written by \`npm run bench -- web-ui --write\`${isJudged ? '' : ' (a quick run, which measures nothing)'} on ${machine}, at a load of ${load}.
${number(plan.files)} session files of ${number(megabytes)} MB together, ${plan.large} of them of about ${number(plan.largeBytes / 1e6)} MB, beside a store of ${number(sessions)} sessions;
every fifth session is in both. Nothing waits in a cache of the server unless the row says so; the system has the files in its own.

| what | requests | p50 ms | p95 ms | plainly | ms | ours to plain |
| --- | --: | --: | --: | --- | --: | --: |
${rows.join('\n')}

"Plainly" is one process that does the same with \`JSON.parse\` over whole files (\`bench/web-ui/plain-reader.ts\`): it checks nothing, compares nothing with the store and answers
nobody. Ours goes over HTTP and GraphQL. The list is its first page of 50 with total and hidden counts. A start is the time from the first request, sent
when the server listens, to its answer: it contains the catalogue of the store. "After a save" means that a file was replaced just before the request: in a
home of this size the list answers at once with what it has, and takes the save in a little later, so that composing it costs at most a tenth of the time. It
is composed in slices of some milliseconds, between which others are answered.
`;
}
