/** What a compressed or exhausted session goes on in (`spec/webui-recovery.md` 19). */
import { describe, expect, it } from 'vitest';
import { CompressionFamilies, compressionRecoveryOf, FOCUSED_CONTINUATION } from '../../src/web-ui/compression-recovery.ts';
import { decodeSidecar } from '../../src/web-ui/sidecar/decode-sidecar.ts';
import type { SidecarRow } from '../../src/web-ui/sidecar/sidecar-row.ts';

type Fields = Readonly<Record<string, unknown>>;

const signature = { mtimeNs: 1n, size: 1, ctimeNs: 1n, ino: 1n };

function rowOf(id: string, fields: Fields): SidecarRow {
  return decodeSidecar({ id, signature, health: 'OK', fields: { session_id: id, ...fields }, isWhole: true, layout: 'MODERN' });
}

function families(files: Readonly<Record<string, Fields>>): CompressionFamilies {
  return new CompressionFamilies(new Map(Object.entries(files).map(([id, fields]) => [id, rowOf(id, fields)])));
}

const answer = (fields: Fields): Fields => ({
  compression_recovery_source_session_id: 's',
  compression_recovery_action: FOCUSED_CONTINUATION,
  parent_session_id: 's',
  session_source: 'fork',
  ...fields,
});

describe('the focused continuation of an exhausted session', () => {
  const children = {
    s: {},
    a: answer({ created_at: 20, updated_at: 31 }),
    b: answer({ created_at: 20, updated_at: 30 }),
    c: answer({ created_at: 10, updated_at: 40, profile: 'work' }),
  };

  it('T80: is the oldest, of a profile that matches, by the creation, the change and the id', () => {
    const found = families(children);
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION)).toBe('c');
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION, null)).toBe('b');
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION, 'default')).toBe('b');
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION, 'work')).toBe('c');
    expect(found.recoveryChild(' s ', ` ${FOCUSED_CONTINUATION} `, 'work')).toBe('c');
    expect(found.recoveryChild('s', 'another')).toBeNull();
    expect(found.recoveryChild('s', ' ')).toBeNull();
    expect(found.recoveryChild('', FOCUSED_CONTINUATION)).toBeNull();
    expect(found.focusedContinuation('s')).toBe('b');
    const twins = families({ s: {}, y: answer({ created_at: 1 }), x: answer({ created_at: 1 }) });
    expect(twins.focusedContinuation('s')).toBe('x');
  });

  it('listing T67: of any profile the oldest of all, of one the oldest of that', () => {
    const found = families({
      s: {},
      a: answer({ created_at: 20 }),
      b: answer({ created_at: 10 }),
      c: answer({ created_at: 5, profile: 'work' }),
    });
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION)).toBe('c');
    expect(found.recoveryChild('s', FOCUSED_CONTINUATION, 'default')).toBe('b');
  });

  it('is proposed only by a payload that says exactly so', () => {
    const payload = { terminal_state: 'compression_exhausted', recommended_action: FOCUSED_CONTINUATION, source_session_id: 's' };
    const told = (fields: Fields) => compressionRecoveryOf(rowOf('s', fields));
    const full = { ...payload, created_at: 5, title: 'T', details: 'd'.repeat(1300), context_length: 200000, last_prompt_tokens: -4 };
    expect(told({ compression_recovery: full })).toEqual({
      recommendedAction: FOCUSED_CONTINUATION,
      sourceSessionId: 's',
      createdAt: 5,
      title: 'T',
      summary: null,
      actionLabel: null,
      message: null,
      details: 'd'.repeat(1200),
      lastPromptTokens: 0,
      thresholdTokens: 0,
      contextLength: 200000,
    });
    const { recommended_action: _, ...unnamed } = payload;
    expect(told({ compression_recovery: unnamed, recommended_recovery_action: FOCUSED_CONTINUATION })).not.toBeNull();
    for (const other of [
      {},
      { compression_recovery: {}, recommended_recovery_action: FOCUSED_CONTINUATION },
      { compression_recovery: unnamed },
      { compression_recovery: { ...payload, terminal_state: 'completed' } },
      { compression_recovery: { ...payload, recommended_action: 'other' } },
      { compression_recovery: 'start_focused_continuation' },
    ])
      expect([other, told(other)]).toEqual([other, null]);
  });
});

describe('the continuation of a snapshot', () => {
  const snapshot = (fields: Fields = {}): Fields => ({ pre_compression_snapshot: true, ...fields });
  const of = (parent: string, fields: Fields = {}): Fields => ({ parent_session_id: parent, ...fields });

  it('is the newest behind all further snapshots, and what is no snapshot has none', () => {
    const found = families({
      a: snapshot(),
      b: snapshot(of('a', { updated_at: 99 })),
      c: of('b', { updated_at: 7 }),
      d: of('a', { updated_at: 5 }),
      e: of('b', { created_at: 7 }),
    });
    expect(found.continuation('a')).toBe('e');
    expect(found.continuation('b')).toBe('e');
    expect(found.continuation('c')).toBeNull();
    expect(found.continuation('nobody')).toBeNull();
    expect(families({ a: snapshot() }).continuation('a')).toBeNull();
  });

  it('is of the same profile, no branch of a user and no focused continuation', () => {
    const found = families({
      a: snapshot({ profile: 'default' }),
      work: of('a', { updated_at: 9, profile: 'work' }),
      branch: of('a', { updated_at: 8, session_source: 'fork' }),
      focused: of('a', { updated_at: 7, compression_recovery_source_session_id: 'a', compression_recovery_action: 'x' }),
      own: of('a', { updated_at: 1 }),
    });
    expect(found.continuation('a')).toBe('own');
    // What continues a branch is marked as its parent is.
    const forked = families({ a: snapshot({ session_source: 'fork' }), b: of('a', { session_source: 'fork' }) });
    expect(forked.continuation('a')).toBe('b');
  });

  it('is looked for over 20 steps, and a loop ends', () => {
    const chain = (length: number) => {
      const files: Record<string, Fields> = { s0: snapshot() };
      for (let index = 1; index < length; index += 1) files[`s${index}`] = snapshot(of(`s${index - 1}`));
      return families({ ...files, tip: of(`s${length - 1}`) });
    };
    expect(chain(20).continuation('s0')).toBe('tip');
    expect(chain(21).continuation('s0')).toBeNull();
    expect(families({ a: snapshot(of('b')), b: snapshot(of('a')), c: of('b') }).continuation('a')).toBe('c');
    expect(families({ a: snapshot(of('a')) }).continuation('a')).toBeNull();
  });
});
