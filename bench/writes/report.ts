/**
 * The page about what writing costs.
 */
export interface AppendFigure {
  readonly name: string;
  /** Messages of one request. */
  readonly batch: number;
  readonly lanes: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Times the rate of the plain writer at the same batch; the median of the rounds. */
  readonly ratio: number | null;
}

export interface WriteFigures {
  readonly machine: string;
  readonly isJudged: boolean;
  readonly sessions: number;
  readonly messages: number;
  readonly contentBytes: number;
  readonly rounds: number;
  readonly figures: readonly AppendFigure[];
  readonly neighbourHz: number;
}

export function writesPage({ machine, isJudged, sessions, messages, contentBytes, rounds, figures, neighbourHz }: WriteFigures): string {
  const number = (value: number, digits = 0) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const rows = figures.map(
    ({ name, batch, lanes, requests, perSecond, p50Ms, p99Ms, ratio }) =>
      `| ${name} | ${batch} | ${lanes} | ${number(requests)} | ${number(perSecond)} | ${number(p50Ms, 1)} | ${number(p99Ms, 1)} | ${ratio === null ? '' : number(ratio, 2)} |`,
  );
  return `# What a change costs

Written by \`npm run bench -- writes --write\`${isJudged ? '' : ' (a quick run, which measures nothing)'} on ${machine}, on a copy of a store of ${number(sessions)} sessions and ${number(messages)}
messages with both full-text indexes. A message is ${contentBytes} bytes of text. Rates are medians of ${rounds} rounds, in each of which everything was measured in turn.

| what | messages a request | at a time | requests | messages a second | p50 ms | p99 ms | to the plain writer |
| --- | --: | --: | --: | --: | --: | --: | --: |
${rows.join('\n')}

The plain writer (\`bench/writes/plain-writer.ts\`) is one process with one prepared insert, the counters, and a commit a message or a batch, with the same settings
(\`synchronous=FULL\`) and the same triggers: it checks nothing, asks nobody and answers nobody. Ours goes over HTTP and GraphQL into the process that writes, looks for
the lease, the lock and the uid, and says what became of the message. "With a neighbour" means that another process commits ${neighbourHz} rows a second to the same store meanwhile.
With a \`clientMutationId\` three more commits go to the file of receipts, which is what a repeat that is safe costs.
`;
}
