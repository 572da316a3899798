import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSON } from 'graphql-scalars';
import { builder } from './builder.ts';

/** ISO 8601 in UTC outside, epoch seconds inside. */
const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'A moment as ISO 8601 text in UTC, for example "2026-05-28T20:26:40.125Z". Input may have any offset.',
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc3339',
  serialize: (value) => {
    if (typeof value !== 'number') throw new GraphQLError('DateTime needs epoch seconds');
    return isoTime(value);
  },
  parseValue: (value) => seconds(GraphQLDateTimeISO.parseValue(value)),
  parseLiteral: (node) => {
    if (node.kind !== Kind.STRING) throw new GraphQLError('DateTime is text in ISO 8601.', { nodes: node });
    return seconds(GraphQLDateTimeISO.parseValue(node.value));
  },
});

const MOST_KEPT = 20_000;
const kept = new Map<number, string>();

/** Lists show the same times again and again, and writing one out costs more than all else about the field. */
function isoTime(epochSeconds: number): string {
  const known = kept.get(epochSeconds);
  if (known !== undefined) return known;
  if (kept.size >= MOST_KEPT) kept.clear();
  const text = new Date(epochSeconds * 1000).toISOString();
  kept.set(epochSeconds, text);
  return text;
}

function seconds(date: Date): number {
  return date.getTime() / 1000;
}

const LiveCursor = new GraphQLScalarType<string, string>({
  name: 'LiveCursor',
  description: 'Where a live feed stood, opaque, at most 1,024 characters. Give the last one back to go on without a gap.',
  serialize: String,
  parseValue: (value) => {
    if (typeof value !== 'string') throw new GraphQLError('LiveCursor is text.');
    return value;
  },
});

builder.addScalarType('DateTime', DateTime);
builder.addScalarType('JSON', GraphQLJSON);
builder.addScalarType('LiveCursor', LiveCursor);
