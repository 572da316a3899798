/** What the terminal client writes: nothing of a transcript may reach the terminal but its text. */
import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../examples/live-documents.ts';
import { printable, TurnPrinter } from '../../examples/turn-printer.ts';
import { applyFrame, emptyView } from '../../examples/turn-view.ts';

describe('printable', () => {
  it.each([
    ['plain text stays', 'naïve 山 🫖 👩‍💻\nsecond', 'naïve 山 🫖 👩‍💻\nsecond'],
    ['colours and cursor moves', 'a\u001b[31mb\u001b[2J\u001b[1;1Hc', 'abc'],
    ['a title of the window', 'a\u001b]0;owned\u0007b\u001b]2;x\u001b\\c', 'abc'],
    ['device control strings, and one that never ends', 'a\u001bPq#0\u001b\\b\u001b]52;c;aGk=', 'ab'],
    ['short sequences', 'a\u001bcb\u001b(0c\u001b7d', 'abcd'],
    ['an escape at the end', 'a\u001b', 'a'],
    ['controls of eight bits', 'a\u009b31mb\u0085c', 'a31mb\nc'],
    ['bells, backspaces and nulls', 'a\u0007\b\0b\u007f', 'ab'],
    ['a carriage return would write over the line', 'good\rbad\r\nend', 'good\nbad\nend'],
    ['what turns the direction', 'a\u202eb\u2066c\u200f', 'abc'],
    ['half a pair', 'a\ud83e', 'a'],
    ['other ends of lines', 'a\u2028b\u2029c', 'a\nb\nc'],
  ])('%s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});

describe('TurnPrinter', () => {
  const base = { sessionId: 's', depth: 0, runId: 'r', late: false, class: 'CONTENT' };
  const EVENTS = [
    { ...base, __typename: 'TurnStarted', id: '1', turnId: 'r', userMessageId: null, pendingText: 'Go', executor: 'WEBUI', platform: null },
    { ...base, __typename: 'TextDelta', id: '2', segment: 0, offset: 0, text: 'one \u001b[2Jtwo' },
    { ...base, __typename: 'SegmentSealed', id: '3', segment: 0, dropReasoningTail: null },
    { ...base, __typename: 'TurnEnded', id: '4', turnId: 'r', outcome: 'COMPLETED', certainty: 'CERTAIN', corrects: null, error: null },
  ] as unknown as LiveEvent[];

  function written(terminal: { isTTY?: boolean; columns?: number; rows?: number }): string {
    let output = '';
    const view = emptyView();
    const printer = new TurnPrinter({ ...terminal, write: (text) => (output += text) });
    for (const event of EVENTS) {
      printer.show(applyFrame(view, { events: [event] }), event);
      printer.draw(view);
    }
    return output;
  }

  it('writes finished lines only where there is no terminal', () => {
    expect(written({})).toBe('> Go\none two\n— completed\n');
  });

  it.each([{ columns: 10, rows: 5 }, { columns: 0, rows: 0 }, {}])(
    'draws what is being written on a terminal of %o, and takes it away again',
    (size) => {
      const output = written({ isTTY: true, ...size });
      const sequences = output.match(/\x1b[^mFJ]*[mFJ]/g) ?? [];
      expect(sequences.every((sequence) => /^\x1b\[(?:\d*[mF]|J)$/.test(sequence))).toBe(true);
      // Read as a terminal would: each run of lines that is drawn is gone when the next thing is written.
      const lines: string[] = [];
      for (const part of output.split(/(\x1b\[\d+F\x1b\[J)/)) {
        const up = /^\x1b\[(\d+)F/.exec(part)?.[1];
        if (up !== undefined) lines.splice(lines.length - Number(up));
        else
          lines.push(
            ...part
              .replace(/\x1b\[\d+m/g, '')
              .split('\n')
              .slice(0, -1),
          );
      }
      expect(lines).toEqual(['> Go', 'one two', '— completed']);
    },
  );
});
