/** What the Web UI's list knows of sessions beside the list itself, over real sockets (`spec/webui-listing.md`). */
import { describe, expect, it } from 'vitest';
import { M, S } from '../support/stores.ts';
import { startWebUi } from '../support/web-ui-server.ts';

const AT = 1_782_000_000;

describe('sessionLineageReport', () => {
  const REPORT = `query ($id: String!) { report: sessionLineageReport(sessionId: $id) {
    found lineageKey tipSessionId manualReview
    segments { sessionId role active session { sessionId } }
    children { sessionId parentSessionId relation } } }`;

  interface Report {
    readonly found: boolean;
    readonly lineageKey: string | null;
    readonly tipSessionId: string;
    readonly manualReview: boolean;
    readonly segments: readonly { readonly sessionId: string; readonly role: string; readonly active: boolean }[];
    readonly children: readonly { readonly sessionId: string; readonly parentSessionId: string; readonly relation: string }[];
  }

  const CHAIN = [
    S('root', { source: 'cli', started_at: AT, ended_at: AT + 100, end_reason: 'compression' }),
    S('mid', { source: 'cli', parent_session_id: 'root', started_at: AT + 100, ended_at: AT + 200, end_reason: 'compression' }),
    S('tip', { source: 'cli', parent_session_id: 'mid', started_at: AT + 200 }),
    M('root', { timestamp: AT + 1 }),
    M('tip', { timestamp: AT + 301 }),
  ];

  async function reportOf(rows: typeof CHAIN, id: string): Promise<Report> {
    const server = await startWebUi({ rows });
    return (await server.read<{ report: Report }, { id: string }>(REPORT, { id })).report;
  }

  it('29: gives the segments newest first, and asks for a look where one goes on elsewhere too', async () => {
    const stale = [S('stale', { source: 'cli', parent_session_id: 'root', started_at: AT + 150 }), M('stale', { timestamp: AT + 161 })];
    const report = await reportOf([...CHAIN, ...stale], 'tip');
    expect(report).toMatchObject({ found: true, lineageKey: 'root', tipSessionId: 'tip', manualReview: true, children: [] });
    expect(report.segments).toEqual([
      { sessionId: 'tip', role: 'TIP', active: true, session: { sessionId: 'tip' } },
      { sessionId: 'mid', role: 'HIDDEN_SEGMENT', active: false, session: { sessionId: 'mid' } },
      { sessionId: 'root', role: 'HIDDEN_SEGMENT', active: false, session: { sessionId: 'root' } },
    ]);
  });

  it('5.4: asks for no look where the chain is all there is', async () => {
    expect(await reportOf(CHAIN, 'tip')).toMatchObject({ manualReview: false });
    // From the first segment the rest of the chain is elsewhere.
    expect(await reportOf(CHAIN, 'root')).toMatchObject({ manualReview: true, segments: [{ sessionId: 'root' }] });
  });

  it('30: finds nothing for an unknown id, and that is no error', async () => {
    expect(await reportOf(CHAIN, 'nobody')).toEqual({
      found: false,
      lineageKey: null,
      tipSessionId: 'nobody',
      manualReview: false,
      segments: [],
      children: [],
    });
  });

  it('5.4: tells of what came from a segment and does not continue it, newest first', async () => {
    const others = [
      S('sub', { source: 'subagent', parent_session_id: 'root', started_at: AT + 10 }),
      S('fork', { source: 'cli', parent_session_id: 'root', started_at: AT + 120, model_config: '{"_branched_from": "root"}' }),
    ];
    const { children } = await reportOf([...CHAIN, ...others], 'tip');
    expect(children).toEqual([
      { sessionId: 'fork', parentSessionId: 'root', relation: 'FORK' },
      { sessionId: 'sub', parentSessionId: 'root', relation: 'DELEGATE' },
    ]);
  });

  it('80: a reset is a conversation of its own', async () => {
    const chat = { source: 'telegram', session_key: 'k' };
    const rows = [
      S('old', { ...chat, started_at: AT, ended_at: AT + 100, end_reason: 'session_reset' }),
      S('new', { ...chat, parent_session_id: 'old', started_at: AT + 101, model_config: '{"_reset_from": "old"}' }),
    ];
    expect(await reportOf(rows, 'new')).toMatchObject({ lineageKey: 'new', segments: [{ sessionId: 'new' }], manualReview: false });
    expect((await reportOf(rows, 'old')).children).toEqual([{ sessionId: 'new', parentSessionId: 'old', relation: 'RESET' }]);
  });
});
