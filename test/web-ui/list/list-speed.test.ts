/** The list is composed on every change. */
import { expect, it } from 'vitest';
import { composeList } from '../../../src/web-ui/list/compose-list.ts';
import { sidecarRow } from '../../../src/web-ui/list/list-row.ts';
import { listInputs, listRequest, session, storeOf } from '../../support/web-ui-rows.ts';

const FILES = 5000;
const SESSIONS = 10_000;
const SOURCES = ['webui', 'cli', 'telegram', 'cron', 'subagent'];

const sidecars = Array.from({ length: FILES }, (_, index) =>
  sidecarRow({
    id: `s${index}`,
    title: `Talk ${index}`,
    messageCount: 5,
    updatedAt: 1000 + index,
    lastMessageAt: 1000 + index,
    parentSessionId: index % 7 === 0 && index > 0 ? `s${index - 1}` : null,
    isSnapshot: index % 50 === 6,
  }),
);
const sessions = Array.from({ length: SESSIONS }, (_, index) => {
  const isContinued = index % 10 < 4;
  return session(`s${index}`, {
    source: SOURCES[Math.floor(index / 10) % SOURCES.length] ?? 'cli',
    title: `Stored ${index}`,
    startedAt: 1000 + index,
    endedAt: isContinued ? 1001 + index : null,
    endReason: isContinued ? 'compression' : null,
    parentId: index % 10 > 0 && index % 10 < 5 ? `s${index - 1}` : null,
    last: 1000.5 + index,
  });
});

it('of 5,000 files and 10,000 sessions is composed in well under 100 ms, and in less when one file changed', () => {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < 7; round++) {
    const store = storeOf(
      sessions.map((row) => ({ ...row })),
      { userMessages: () => 1 },
    );
    const inputs = listInputs({ sidecars: sidecars.map((row) => ({ ...row })), store });
    const at = performance.now();
    const list = composeList(inputs, listRequest());
    cold.push(performance.now() - at);
    expect(list.rows.length).toBeGreaterThan(9000);
    const changed = {
      ...inputs,
      sidecars: inputs.sidecars.with(3, sidecarRow({ id: 's3', title: 'New', messageCount: 9, updatedAt: 99_999 })),
    };
    const again = performance.now();
    expect(composeList(changed, listRequest()).shown[0]?.id).toBe('s3');
    warm.push(performance.now() - again);
  }
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[3] ?? 0;
  console.log(`15,000 rows: cold ${median(cold).toFixed(1)} ms, after a change ${median(warm).toFixed(1)} ms`);
  expect(median(cold)).toBeLessThan(250);
  expect(median(warm)).toBeLessThan(100);
});
