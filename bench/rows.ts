/**
 * Rows of `messages` as the owning agent writes them: what was asked, tool calls with their results, answers with reasoning.
 */
import { standaloneSummary } from '../src/demo/handoff.ts';
import { ownerJson } from '../src/demo/owner-json.ts';
import type { SeededRandom } from '../src/demo/random.ts';
import type { TextPool } from './text-pool.ts';

/** The columns that differ from row to row; the others keep their defaults. */
export interface MessageDraft {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: string | null;
  readonly toolName: string | null;
  readonly tokenCount: number | null;
  readonly finishReason: string | null;
  readonly reasoning: string | null;
  readonly displayKind: string | null;
  /** Calls in `toolCalls`. */
  readonly calls: number;
}

const EMPTY: Omit<MessageDraft, 'role' | 'content'> = {
  toolCallId: null,
  toolCalls: null,
  toolName: null,
  tokenCount: null,
  finishReason: null,
  reasoning: null,
  displayKind: null,
  calls: 0,
};

const TOOLS = ['read_file', 'terminal', 'search_files', 'write_file', 'patch', 'web_search', 'browser_snapshot', 'memory'] as const;
const SMALLEST_RESULT = 500;
const LARGEST_RESULT = 20_000;
/** Results of this size come from dumps and minified files. */
const HUGE_RESULT = 200_000;
const HUGE_SHARE = 0.0005;
/** How strongly results keep to the small end. */
const RESULT_SKEW = 8;

export class RowMaker {
  readonly #text: TextPool;
  readonly #random: SeededRandom;

  constructor(text: TextPool, random: SeededRandom) {
    this.#text = text;
    this.#random = random;
  }

  /** One turn: what was asked, some rounds of tools, an answer. `depth` is the mean number of rounds. */
  turn(depth: number, isChinese: boolean): MessageDraft[] {
    const rows = [this.#ask(isChinese)];
    while (this.#random.next() < depth / (depth + 1)) rows.push(...this.#round());
    rows.push(this.#answer(isChinese));
    return rows;
  }

  /** The row with which a continuation begins. */
  summary(): MessageDraft {
    const text = `Goal: ${this.#text.prose(120)}\nDone: ${this.#text.prose(900)}\nNext: ${this.#text.prose(200)}`;
    return { ...EMPTY, role: 'user', content: standaloneSummary(text), displayKind: 'hidden' };
  }

  #ask(isChinese: boolean): MessageDraft {
    const length = this.#random.next() < 0.01 ? this.#skewed(2_000, 60_000, 2) : this.#skewed(20, 600, 1);
    return { ...EMPTY, role: 'user', content: isChinese ? this.#text.chinese(length / 8) : this.#text.prose(length) };
  }

  #answer(isChinese: boolean): MessageDraft {
    const length = this.#skewed(60, 3_000, 2);
    const content = isChinese ? this.#text.chinese(length / 6) : this.#text.prose(length);
    return { ...EMPTY, role: 'assistant', content, tokenCount: tokens(content), finishReason: 'stop', reasoning: this.#reasoning() };
  }

  #round(): MessageDraft[] {
    const uses = Array.from({ length: this.#random.next() < 0.2 ? 2 : 1 }, () => ({
      id: `call_${this.#random.hex(10)}`,
      tool: TOOLS[Math.floor(this.#random.next() * TOOLS.length)] ?? 'terminal',
    }));
    const toolCalls = ownerJson(
      uses.map(({ id, tool }) => ({ id, type: 'function', function: { name: tool, arguments: ownerJson(this.#arguments(tool)) } })),
    );
    const content = this.#random.next() < 0.4 ? this.#text.prose(this.#skewed(30, 300, 1)) : '';
    const call: MessageDraft = {
      ...EMPTY,
      role: 'assistant',
      content,
      toolCalls,
      tokenCount: tokens(content + toolCalls),
      finishReason: 'tool_calls',
      reasoning: this.#reasoning(),
      calls: uses.length,
    };
    const results = uses.map(
      ({ id, tool }): MessageDraft => ({ ...EMPTY, role: 'tool', content: this.#result(), toolCallId: id, toolName: tool }),
    );
    return [call, ...results];
  }

  #arguments(tool: string): Record<string, unknown> {
    const path = `src/${this.#text.word()}/${this.#text.word()}.ts`;
    if (tool === 'write_file') return { path, content: this.#text.output(this.#skewed(200, 4_000, 4)) };
    if (tool === 'terminal') return { command: `npm run ${this.#text.word()} -- ${path}`, timeout: 120 };
    return { path, pattern: this.#text.word() };
  }

  #result(): string {
    const length = this.#random.next() < HUGE_SHARE ? HUGE_RESULT : this.#skewed(SMALLEST_RESULT, LARGEST_RESULT, RESULT_SKEW);
    return this.#text.output(length);
  }

  #reasoning(): string | null {
    return this.#random.next() < 0.3 ? this.#text.prose(this.#skewed(80, 2_000, 2)) : null;
  }

  /** Between the two, by orders of magnitude; the higher the skew, the more of them are small. */
  #skewed(low: number, high: number, skew: number): number {
    return Math.round(low * (high / low) ** (this.#random.next() ** skew));
  }
}

function tokens(text: string): number {
  return Math.max(1, Math.round(text.length / 4));
}
