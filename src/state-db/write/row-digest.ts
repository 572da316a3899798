/**
 * The version of a row: a digest over the columns that a rewrite owns, as the owning programs compute it (`spec/state-db-writes.md`
 * 3.1). A guarded write compares it with the row as it is stored by then.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import type { StoreShape } from '../columns.ts';
import type { SqlRow, SqlValue } from '../decode.ts';
import { pythonFloat } from './python-float.ts';

/** v2: the columns that a rewrite owns. v1: an earlier and longer list, of tokens that others may still hold (D2). */
export type DigestScheme = 'v1' | 'v2';

const DIGEST_BYTES = 16;

const COLUMNS: Readonly<Record<DigestScheme, readonly string[]>> = {
  v2: [
    'content',
    'tool_call_id',
    'tool_calls',
    'tool_name',
    'effect_disposition',
    'token_count',
    'finish_reason',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'codex_message_items',
    'observed',
    '_compressed_summary',
    'absorbed_message_uids',
    'tool_call_uids',
  ],
  v1: [
    'content',
    'tool_call_id',
    'tool_calls',
    'tool_name',
    'effect_disposition',
    'token_count',
    'finish_reason',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'codex_reasoning_items',
    'codex_message_items',
    'platform_message_id',
    'observed',
    '_compressed_summary',
    'api_content',
    'display_kind',
    'display_metadata',
  ],
};

/** The columns of a scheme that a store has, in the order of the digest (D2). */
export function digestColumns(shape: StoreShape, scheme: DigestScheme = 'v2'): readonly string[] {
  return COLUMNS[scheme].filter((column) => shape.hasColumn('messages', column));
}

/**
 * The digest of a row as 32 hex digits (D1, D3). The row was read with safe integers and holds all the columns; without that an integer
 * can't be told from a float, and the digest is another one (W14).
 */
export function rowDigest(row: SqlRow, columns: readonly string[]): string {
  const hash = blake2b.create({ dkLen: DIGEST_BYTES });
  for (const column of columns) {
    const value = row[column] ?? null;
    if (value === null) {
      hash.update(NULL_TAG);
      continue;
    }
    const [tag, bytes] = tagged(value);
    const head = Buffer.alloc(9);
    head.write(tag, 0, 'latin1');
    head.writeBigUInt64BE(BigInt(bytes.length), 1);
    hash.update(head).update(bytes);
  }
  return Buffer.from(hash.digest()).toString('hex');
}

/** The token of a row's version, opaque to clients: the scheme and the digest (D5). The row is as for `rowDigest`. */
export function rowVersion(row: SqlRow, shape: StoreShape, scheme: DigestScheme = 'v2'): string {
  return `${scheme}:${rowDigest(row, digestColumns(shape, scheme))}`;
}

/** The scheme and digest of a token; null for one of another scheme, which counts as no digest and not as a mismatch (D5). */
export function parseRowVersion(token: string): { readonly scheme: DigestScheme; readonly digest: string } | null {
  const found = /^(v[12]):([0-9a-f]{32})$/.exec(token);
  return found === null ? null : { scheme: found[1] === 'v1' ? 'v1' : 'v2', digest: found[2] ?? '' };
}

const NULL_TAG = Buffer.from('N');

function tagged(value: Exclude<SqlValue, null>): readonly ['S' | 'I' | 'F' | 'B', Uint8Array] {
  if (typeof value === 'string') return ['S', Buffer.from(value)];
  if (typeof value === 'bigint') return ['I', Buffer.from(String(value))];
  return typeof value === 'number' ? ['F', Buffer.from(pythonFloat(value))] : ['B', value];
}
