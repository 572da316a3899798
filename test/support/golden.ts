/**
 * The golden answers: what upstream's own functions said about the stores in `fixtures/stores` (see `fixtures/README.md`).
 *
 *     const golden = loadGolden('basic', 'titles');
 *     const path = copyStore('basic');          // never open a fixture in place
 *     expect(goldenDifference(actual, golden.cases[0].result)).toBeNull();
 */
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import type { ConversationMessage } from '../../src/state-db/conversation.ts';

export interface GoldenCase {
  /** What is special about it. */
  readonly name?: string;
  /** In files that cover several functions. */
  readonly function?: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Absent when upstream raised. */
  readonly result?: unknown;
  readonly error?: { readonly type: string };
  /** Only these keys of the result were kept; `_row_id` and `length` say that only those were. */
  readonly projection?: unknown;
  /** The result equals that of the case with these arguments. */
  readonly same_as?: Readonly<Record<string, unknown>>;
}

/** One file; `C` where its cases have other keys than those of GoldenCase. */
export interface Golden<C = GoldenCase> {
  readonly store: string;
  readonly upstream: unknown;
  readonly functions: readonly string[];
  /** The clock, Unix seconds, during the calls. */
  readonly now: number;
  readonly note?: string;
  readonly cases: readonly C[];
}

/** The folder of the fixtures; `CADUCEUS_FIXTURES` overrides the one beside the checkout. */
export function fixturesDir(): string {
  return resolve(process.env.CADUCEUS_FIXTURES ?? '../shared/fixtures');
}

/** `golden/STORE/NAME.json`. */
export function loadGolden<C = GoldenCase>(store: string, name: string): Golden<C> {
  return JSON.parse(readFileSync(join(fixturesDir(), 'golden', store, `${name}.json`), 'utf8')) as Golden<C>;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Copies `stores/NAME.db`, with its `-wal` if it has one, into a new temporary folder that goes when the test file is done. */
export function copyStore(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'caduceus-store-'));
  folders.push(folder);
  const source = join(fixturesDir(), 'stores', `${name}.db`);
  const target = join(folder, `${basename(name)}.db`);
  for (const suffix of ['', '-wal']) {
    if (!existsSync(source + suffix)) continue;
    copyFileSync(source + suffix, target + suffix);
    chmodSync(target + suffix, 0o600);
  }
  return target;
}

export interface GoldenOptions {
  /** What `$HOME_DIR` stands for. */
  readonly homeDir?: string;
}

/** Whether `actual` is what the golden answer says; see goldenDifference. */
export function matchesGolden(actual: unknown, expected: unknown, options: GoldenOptions = {}): boolean {
  return goldenDifference(actual, expected, options) === null;
}

/**
 * Null when `actual` is what the golden answer says, else where it differs first and how. Understands the encodings of the fixtures:
 * long strings by digest, BLOBs (bytes, or the text that this server decodes them to), non-finite and large numbers, values drawn at
 * random, notices, the home folder. A key whose value is undefined counts as absent; a bigint equals the number of the same value.
 */
export function goldenDifference(actual: unknown, expected: unknown, options: GoldenOptions = {}, path = '$'): string | null {
  const encoded = isObject(expected) ? Object.keys(expected).find((key) => key in DECODERS) : undefined;
  const decoder = encoded === undefined ? undefined : DECODERS[encoded];
  if (decoder !== undefined) return decoder(actual, expected as Encoded) ? null : mismatch(path, actual, expected);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return mismatch(path, actual, expected);
    if (actual.length !== expected.length) return `${path}: ${actual.length} items instead of ${expected.length}`;
    return firstDifference(expected.map((item, index) => [`${path}[${index}]`, actual[index], item]));
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return mismatch(path, actual, expected);
    const extra = Object.keys(actual).find((key) => actual[key] !== undefined && !(key in expected));
    if (extra !== undefined) return `${path}.${extra}: not in the golden answer`;
    return firstDifference(Object.entries(expected).map(([key, value]) => [`${path}.${key}`, actual[key], value]));
  }
  return sameScalar(actual, withHome(expected)) ? null : mismatch(path, actual, expected);

  function firstDifference(items: readonly (readonly [path: string, actual: unknown, expected: unknown])[]): string | null {
    for (const [at, ours, theirs] of items) {
      const difference = goldenDifference(ours, theirs, options, at);
      if (difference !== null) return difference;
    }
    return null;
  }

  function withHome(value: unknown): unknown {
    return typeof value === 'string' && options.homeDir !== undefined ? value.replaceAll('$HOME_DIR', options.homeDir) : value;
  }
}

type Encoded = Readonly<Record<string, unknown>>;

const FLOATS: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

const DECODERS: Readonly<Record<string, (actual: unknown, expected: Encoded) => boolean>> = {
  $sha256: (actual, { $sha256, $len }) =>
    typeof actual === 'string' && actual.length === $len && createHash('sha256').update(actual).digest('hex') === $sha256,
  $bytes: (actual, { $bytes }) => {
    const bytes = Buffer.from(String($bytes), 'hex');
    return actual instanceof Uint8Array ? bytes.equals(actual) : actual === new TextDecoder().decode(bytes);
  },
  $float: (actual, { $float }) => Object.is(actual, FLOATS[String($float)]),
  $int: (actual, { $int }) => {
    if (typeof actual === 'number') return actual === Number($int);
    return (typeof actual === 'bigint' || typeof actual === 'string') && String(actual) === $int;
  },
  $random: (actual, { $random }) => {
    const digits = Number(String($random).slice('hex'.length));
    return typeof actual === 'string' && actual.length === digits && /^[0-9a-f]+$/.test(actual);
  },
  $notice: (actual) => typeof actual === 'string' && actual.trim() !== '',
};

function sameScalar(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'bigint' && typeof expected === 'number') return actual === BigInt(expected);
  return actual === expected;
}

function mismatch(path: string, actual: unknown, expected: unknown): string {
  return `${path}: ${shown(actual)} instead of ${shown(expected)}`;
}

function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'nothing');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** Our message as upstream's dictionary: its keys, absent where upstream leaves them out (`spec/state-db.md` 9.1). */
export function toUpstreamMessage(message: ConversationMessage): Record<string, unknown> {
  return {
    role: message.role,
    content: message.content,
    api_content: message.apiContent ?? undefined,
    display_kind: message.displayKind ?? undefined,
    display_metadata: message.displayMetadata ?? undefined,
    _compressed_summary: message.compressedSummary || undefined,
    timestamp: message.timestamp ?? undefined,
    tool_call_id: message.toolCallId ?? undefined,
    tool_name: message.toolName ?? undefined,
    effect_disposition: message.effectDisposition ?? undefined,
    tool_calls: message.toolCalls ?? undefined,
    message_id: message.platformMessageId ?? undefined,
    observed: message.observed || undefined,
    finish_reason: message.finishReason ?? undefined,
    reasoning: message.reasoning ?? undefined,
    reasoning_content: message.reasoningContent ?? undefined,
    reasoning_details: message.reasoningDetails,
    codex_reasoning_items: message.codexReasoningItems,
    codex_message_items: message.codexMessageItems,
  };
}
