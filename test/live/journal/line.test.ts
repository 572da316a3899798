/** Bytes into records: what is read, what is salvaged, what is malformed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leadingFields, type ParsedLine, parseLine, recordMarker } from '../../../src/live/journal/line.ts';
import { LineSplitter, LONGEST_LINE } from '../../../src/live/journal/line-splitter.ts';
import { journalLine } from '../../support/journal-lines.ts';

const RUN = { sessionId: 's', runId: 'r' };

function parseAll(bytes: Buffer, cuts: readonly number[] = []): ParsedLine[] {
  const splitter = new LineSplitter(recordMarker(RUN));
  const parsed: ParsedLine[] = [];
  const bounds = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  for (let index = 1; index < bounds.length; index++) {
    // A fresh copy each time, overwritten afterwards: nothing may hold on to the memory of a chunk.
    const chunk = Buffer.from(bytes.subarray(bounds[index - 1], bounds[index]));
    for (const line of splitter.feed(chunk)) parsed.push(parseLine(line, RUN));
    chunk.fill(0x21);
  }
  return parsed;
}

function line(entry: Parameters<typeof journalLine>[1]): string {
  return `${journalLine(RUN, entry)}\n`;
}

function texts(parsed: readonly ParsedLine[]): unknown[] {
  return parsed.map(({ record, malformed }) => record?.payload.text ?? malformed);
}

const token = (seq: number, text: unknown) => line({ event: 'token', seq, payload: { text } });

describe('a line', () => {
  it('gives its record', () => {
    const [parsed] = parseAll(Buffer.from(line({ event: 'done', seq: 7, createdAt: 12.5, payload: { usage: {} } })));
    expect(parsed?.record).toMatchObject({
      seq: 7,
      event: 'done',
      createdAt: 12.5,
      terminal: true,
      terminalState: 'completed',
      truncated: false,
    });
  });

  it('17: U+2028, U+2029 and U+0085 inside a text end no line', () => {
    const text = 'a\u2028b\u2029c\u0085d';
    const raw = Buffer.from(token(1, text) + token(2, 'next'));
    expect(raw.includes(Buffer.from('\u2028'))).toBe(true);
    expect(texts(parseAll(raw))).toEqual([text, 'next']);
  });

  it('17: NaN and Infinity outside strings are null, inside strings they are text', () => {
    const payload = {
      text: 'NaN, -Infinity and "NaN"',
      a: Number.NaN,
      b: [Number.NEGATIVE_INFINITY, 1],
      c: { NaN: Number.POSITIVE_INFINITY },
    };
    const [parsed] = parseAll(Buffer.from(line({ event: 'metering', seq: 1, payload })));
    expect(parsed?.record?.payload).toEqual({ text: payload.text, a: null, b: [null, 1], c: { NaN: null } });
  });

  it('17: a long string beside a NaN is no trouble', () => {
    const text = '\\"x'.repeat(40_000);
    const [parsed] = parseAll(Buffer.from(line({ event: 'token', seq: 1, payload: { text, n: Number.NaN } })));
    expect(parsed?.record?.payload.text).toBe(text);
  });

  it('21: a foreign run, a foreign session, another event id, a list, text and a bad number are malformed, a blank line is nothing', () => {
    const lines = [
      token(1, 'mine'),
      `${journalLine({ ...RUN, runId: 'other' }, { event: 'token', seq: 2 })}\n`,
      `${journalLine({ ...RUN, sessionId: 'other' }, { event: 'token', seq: 2 })}\n`,
      token(2, 'x').replace('"r:2"', '"r:3"'),
      '[1]\n',
      'not json\n',
      '\n',
      ' \r\n',
      '{"seq": "x"}\n',
      '{"seq": true}\n',
      '{"seq": 0}\n',
      '{"seq": 1.5}\n',
      'null\n',
    ];
    const parsed = parseAll(Buffer.from(lines.join('')));
    expect(texts(parsed)).toEqual([
      'mine',
      'FOREIGN',
      'FOREIGN',
      'FOREIGN',
      'NOT_AN_OBJECT',
      'NOT_JSON',
      null,
      null,
      'BAD_SEQ',
      'BAD_SEQ',
      'BAD_SEQ',
      'BAD_SEQ',
      'NOT_AN_OBJECT',
    ]);
  });

  it('21: an unknown event is a record', () => {
    expect(parseAll(Buffer.from(line({ event: 'brand_new', seq: 1, payload: { x: 1 } })))[0]?.record).toMatchObject({
      event: 'brand_new',
      terminal: false,
    });
  });

  it('a line that ends the run must name it, another one need not', () => {
    const bare =
      '{"seq":1,"event":"token"}\n{"seq":1,"event":"token","run_id":"other"}\n{"seq":2,"type":"done","terminal":true}\n{"seq":3,"event":"cancel"}\n';
    expect(parseAll(Buffer.from(bare)).map(({ record, malformed }) => record?.seq ?? malformed)).toEqual([
      1,
      'FOREIGN',
      'FOREIGN',
      'FOREIGN',
    ]);
  });

  it('16: a record behind a torn one is salvaged, and the torn part counts as malformed', () => {
    const torn = token(1, 'lost').slice(0, 120);
    expect(parseAll(Buffer.from(torn + token(2, 'kept')))).toMatchObject([{ record: { seq: 2 }, malformed: 'TORN_BEFORE_RECORD' }]);
  });

  it('16: a tail that was torn inside a character harms only itself', () => {
    const whole = Buffer.from(token(1, 'ä'.repeat(50)));
    const torn = whole.subarray(0, whole.indexOf(0xc3) + 1);
    expect(parseAll(Buffer.concat([torn, Buffer.from(token(2, 'kept'))]))).toMatchObject([
      { record: { seq: 2 }, malformed: 'TORN_BEFORE_RECORD' },
    ]);
  });

  it('16: the beginning of a record inside a text salvages nothing', () => {
    const quoted = recordMarker(RUN);
    expect(texts(parseAll(Buffer.from(token(1, `${quoted}1"`))))).toEqual([`${quoted}1"`]);
    expect(texts(parseAll(Buffer.from(`${token(1, quoted).slice(0, -3)}\n`)))).toEqual(['NOT_JSON']);
  });
});

describe('a line over 256 KiB', () => {
  const session = { session_id: 's', messages: [{ role: 'user', content: 'x'.repeat(600_000) }] };

  it('15: keeps its header and what stands before the first list or object of the payload', () => {
    const payload = { type: 'rate_limit', message: 'slow "down"', retry: 3, fatal: false, session, later: 'unseen' };
    const [parsed] = parseAll(Buffer.from(line({ event: 'apperror', seq: 9, payload })));
    expect(parsed?.record).toMatchObject({ seq: 9, event: 'apperror', terminal: true, terminalState: 'errored', truncated: true });
    expect({ ...parsed?.record?.payload }).toEqual({ type: 'rate_limit', message: 'slow "down"', retry: 3, fatal: false });
    expect(parsed?.record?.bytes).toBeGreaterThan(600_000);
  });

  it('16: a record behind a torn huge one is found', () => {
    const torn = line({ event: 'done', seq: 1, payload: { session } }).slice(0, 500_000);
    expect(parseAll(Buffer.from(torn + token(2, 'kept')), [100_000, 300_000, 499_990, 500_005])).toMatchObject([
      { record: { seq: 2, payload: { text: 'kept' } }, malformed: 'TORN_BEFORE_RECORD' },
    ]);
  });

  it('16: a huge record behind a torn one is found', () => {
    const torn = token(1, 'lost').slice(0, 120);
    expect(parseAll(Buffer.from(torn + line({ event: 'done', seq: 2, payload: { session } })))).toMatchObject([
      { record: { seq: 2, event: 'done', truncated: true }, malformed: 'TORN_BEFORE_RECORD' },
    ]);
  });

  it('what looks like a record inside a payload is no record', () => {
    const nested = { version: 1, event_id: 'r:5', seq: 5, run_id: 'r', session_id: 's', event: 'token', payload: {} };
    const [parsed] = parseAll(Buffer.from(line({ event: 'done', seq: 1, payload: { session, nested, more: 1 } })));
    expect(parsed).toMatchObject({ record: { seq: 1, event: 'done', truncated: true }, malformed: null });
  });

  it('no more than the beginning is held', () => {
    const splitter = new LineSplitter(recordMarker(RUN));
    for (let at = 0; at < 40; at++) for (const _ of splitter.feed(Buffer.alloc(1024 * 1024, 0x61))) throw new Error('no line ended');
    expect(splitter.carried).toBe(40 * 1024 * 1024);
    expect(splitter.held).toBeLessThanOrEqual(LONGEST_LINE);
  });

  it('without a header it is malformed', () => {
    expect(
      parseAll(Buffer.from(`${'x'.repeat(300_000)}\n${token(1, 'next')}`)).map(({ record, malformed }) => record?.seq ?? malformed),
    ).toEqual(['NOT_JSON', 1]);
  });
});

it('the leading fields of an object end at the first that is not short and plain', () => {
  const fields = (text: string) => ({ ...leadingFields(text) });
  expect(fields('{"a":"x\\n","b":-1.5e3,"c":null,"d":{"e":1}}')).toEqual({ a: 'x\n', b: -1500, c: null });
  expect(fields(`{"a":1,"long":"${'x'.repeat(5000)}","b":2}`)).toEqual({ a: 1 });
  expect(fields('{"a":"cut he')).toEqual({});
  expect(fields('[1]')).toEqual({});
  expect(fields('')).toEqual({});
});

describe('whatever the bytes', () => {
  const glued = token(3, 'lost').slice(0, 100);
  const longLine = line({ event: 'done', seq: 6, payload: { session: 'y'.repeat(300_000) } });
  const file = Buffer.from(
    token(1, 'eins ä \u2028 zwei') +
      token(2, 'é') +
      glued +
      token(4, 'kept') +
      'noise\n\n' +
      longLine.slice(0, 290_000) +
      token(5, 'kept') +
      longLine +
      token(7, 'open').slice(0, 30),
  );
  const whole = parseAll(file);

  it('any split into chunks gives the same records', () => {
    expect(whole.map(({ record }) => record?.seq)).toEqual([1, 2, 4, undefined, undefined, 5, 6]);
    const cuts = fc.array(fc.nat({ max: file.length }), { maxLength: 20 });
    fc.assert(
      fc.property(cuts, (at) => {
        expect(parseAll(file, at)).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  it('every split of a small file into two chunks gives the same records', () => {
    const small = Buffer.from(token(1, 'ä\u0085') + glued + token(2, '€'));
    const expected = parseAll(small);
    for (let cut = 0; cut <= small.length; cut++) expect(parseAll(small, [cut])).toEqual(expected);
  });

  it('nothing throws', () => {
    const marker = fc.constantFrom('{"version":1,"event_id":"r:', ',"payload":', '\n', '"', '{', 'NaN', '\\', token(1, 'x'));
    const soup = fc.array(fc.oneof(fc.uint8Array({ maxLength: 40 }), marker), { maxLength: 40 });
    fc.assert(
      fc.property(soup, (parts) => {
        const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)));
        for (const { record } of parseAll(bytes)) if (record !== null) expect(record.seq).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  it('what a line survives, its splitter survives at any length around the limit', () => {
    for (const extra of [-1, 0, 1, 2]) {
      const frame = token(1, '');
      const text = 'z'.repeat(LONGEST_LINE - frame.length + 1 + extra);
      const parsed = parseAll(Buffer.from(token(1, text)), [5, LONGEST_LINE]);
      expect(parsed[0]?.record).toMatchObject({ seq: 1, truncated: extra > 0 });
    }
  });
});
