/** `Query.doctor` over a real server. */
import { describe, expect, it } from 'vitest';
import { webUiFixture } from '../doctor/damages.ts';
import { graphql } from '../generated/gql.ts';
import { startInProcess } from '../support/server.ts';
import { M, S } from '../support/stores.ts';

const DOCTOR = graphql(`
  query Doctor($profile: String, $deep: Boolean) {
    doctor(profile: $profile, deep: $deep) {
      profile deep healthy checkedAt
      findings { code severity area message subject count remedy }
      checks { name area state durationMs }
    }
  }
`);

describe('doctor', () => {
  it('says what is wrong, the worst first, with the mutation that mends it', async () => {
    const server = await startInProcess({ home: webUiFixture() });
    const { doctor } = await server.read(DOCTOR, {});
    expect(doctor).toMatchObject({ profile: 'default', deep: false, healthy: false });
    expect(Math.abs(Date.parse(doctor.checkedAt) - Date.now())).toBeLessThan(60_000);
    expect(doctor.findings[0]).toMatchObject({
      code: 'SIDECAR_CORRUPT',
      severity: 'ERROR',
      area: 'FILES',
      subject: 'mw_damaged',
      remedy: null,
    });
    expect(doctor.findings.find(({ subject }) => subject === 'mw_stale_empty')).toMatchObject({
      code: 'STALE_PENDING_TURN',
      severity: 'WARNING',
      count: 1,
      remedy: 'repairStalePending(input: {profile: "default", sessionId: "mw_stale_empty", dryRun: true})',
    });
    const deep = await server.read(DOCTOR, { deep: true });
    expect(deep.doctor.findings.map(({ code }) => code)).toContain('JOURNAL_RETRY_WAITING');
    expect(deep.doctor.checks.every(({ state }) => state === 'DONE')).toBe(true);
  });

  it('looks at one profile, and a broken one is a report and no error', async () => {
    const broken = { rows: [S('a', { message_count: 3 })] };
    const server = await startInProcess({ rows: [S('a'), M('a')], profiles: { work: broken } });
    const codes = async (profile: string) => (await server.read(DOCTOR, { profile })).doctor.findings.map(({ code }) => code);
    expect(await codes('work')).toContain('TRANSCRIPT_ROWS_MISSING');
    expect(await codes('default')).not.toContain('TRANSCRIPT_ROWS_MISSING');
    expect(await server.error(DOCTOR, { profile: 'nobody' })).toMatchObject({ extensions: { code: 'PROFILE_NOT_FOUND' } });
  });

  it('looks once for all who ask at the same time', async () => {
    const server = await startInProcess({ home: webUiFixture() });
    const reports = await Promise.all(Array.from({ length: 5 }, () => server.read(DOCTOR, {})));
    expect(new Set(reports.map(({ doctor }) => doctor.checkedAt)).size).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await server.read(DOCTOR, {})).doctor.checkedAt).not.toBe(reports[0]?.doctor.checkedAt);
  });
});
