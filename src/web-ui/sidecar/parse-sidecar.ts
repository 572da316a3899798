/**
 * A whole session file from its bytes (`spec/webui-sidecars.md` 4): pure, so that it can run in any thread. What is damaged is told.
 */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../state-db/decode.ts';
import { TopLevelScan } from '../top-level-scan.ts';
import { type Fields, listOf, objectOf } from './coercions.ts';
import { decodeSidecar, visibleMessages } from './decode-sidecar.ts';
import { parseSidecarJson } from './sidecar-json.ts';
import { COUNT_KEYS, MESSAGES, SCENES } from './sidecar-keys.ts';
import { repeatedPartials } from './sidecar-messages.ts';
import type { SidecarRow, SidecarSignature, SidecarWarning } from './sidecar-row.ts';

export interface WholeSidecar {
  readonly row: SidecarRow;
  /** As they are shown: partial answers that repeat another are left out (4.2). */
  readonly messages: readonly unknown[];
  /** How many were left out. */
  readonly collapsedPartials: number;
  readonly contextMessages: readonly unknown[];
  /** `{name, snippet, tid, assistant_msg_idx, args}`. */
  readonly toolCalls: readonly unknown[];
  readonly activityScenes: Fields;
  /** Every member as it stands in the file; null when it is no object. */
  readonly fields: Fields | null;
}

const BYTE_ORDER_MARK = '\uFEFF';
const REPLACEMENT = /\uFFFD/g;

export interface DecodedText {
  readonly text: string;
  readonly warnings: SidecarWarning[];
  readonly isDamaged: boolean;
}

/** The text without its byte order mark, and without the bytes that are no UTF-8. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const warnings: SidecarWarning[] = [];
  const isDamaged = !isUtf8(bytes);
  let text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  if (text.startsWith(BYTE_ORDER_MARK)) {
    warnings.push({ code: 'BYTE_ORDER_MARK', field: null });
    text = text.slice(1);
  }
  if (isDamaged) {
    warnings.push({ code: 'UNDECODABLE_TEXT', field: null });
    text = text.replace(REPLACEMENT, '');
  }
  return { text, warnings, isDamaged };
}

/** `id` is the stem of the file's name. */
export function parseSidecar(bytes: Uint8Array, id: string, signature: SidecarSignature): WholeSidecar {
  const { text, warnings, isDamaged } = decodeText(bytes);
  const value = parseSidecarJson(text);
  const fields = isJsonObject(value) ? value : null;
  const health = fields === null ? 'CORRUPT' : isDamaged ? 'DAMAGED_ENCODING' : 'OK';
  const source = { id, signature, health, fields, isWhole: fields !== null, warnings } as const;
  return {
    row: decodeSidecar({ ...source, layout: fields === null ? null : layoutOf(Object.keys(fields)) }),
    messages: fields === null ? [] : visibleMessages(fields),
    collapsedPartials: repeatedPartials(listOf(fields?.messages)).length,
    contextMessages: listOf(fields?.context_messages),
    toolCalls: listOf(fields?.tool_calls),
    activityScenes: objectOf(fields?.anchor_activity_scenes),
    fields,
  };
}

/** MODERN: what reads the beginning of the file finds the count there (5.2). */
export function layoutOf(keys: readonly string[]): 'MODERN' | 'LEGACY' {
  const bulk = keys.findIndex((key) => key === MESSAGES || key === SCENES);
  const counts = COUNT_KEYS.map((key) => keys.indexOf(key));
  return counts.every((at) => at !== -1 && (bulk === -1 || at < bulk)) ? 'MODERN' : 'LEGACY';
}

const NOTHING: ReadonlySet<string> = new Set();

/** The members that end within the bytes, which are the beginning of a file; null when it is no object. */
export function partialFields(bytes: Buffer): Fields | null {
  const scan = new TopLevelScan(null, NOTHING);
  scan.scan(bytes);
  if (scan.state === 'NOT_AN_OBJECT') return null;
  return Object.fromEntries(
    scan.keys().flatMap((key) => {
      const member = scan.member(key);
      const value =
        member === null || member.end === null ? undefined : parseSidecarJson(decodeText(bytes.subarray(member.start, member.end)).text);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
