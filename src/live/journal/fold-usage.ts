/**
 * Tokens, cost and context window of a turn (`spec/live-turns.md` 3.6 `metering`, `done`): the latest line wins, what it leaves out stays.
 */
import type { LiveUsage } from './events.ts';
import type { FoldStep } from './fold-step.ts';
import { NO_PAYLOAD, number, object, type Payload, word } from './payload.ts';

const NO_USAGE: LiveUsage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheHitPercent: null,
  contextLength: null,
  thresholdTokens: null,
  lastPromptTokens: null,
  contextTokensAfterCompaction: null,
  estimatedCost: null,
  tokensPerSecond: null,
  timeToFirstTokenMs: null,
  durationSeconds: null,
  model: null,
  final: false,
};

export function foldMetering(step: FoldStep): void {
  const counters = object(step.payload, 'usage') ?? NO_PAYLOAD;
  change(step, told(step.turn.usage ?? NO_USAGE, counters, step.payload), '');
}

/** The counters of the end; they are missing when the line was too long to be read. */
export function foldFinalUsage(step: FoldStep): void {
  const counters = object(step.payload, 'usage');
  if (counters === null) return;
  change(step, { ...told(step.turn.usage ?? NO_USAGE, counters, counters), final: true }, 'usage');
}

/** The same counters where they are kept with a message. */
export function finalUsage(counters: Payload): LiveUsage {
  return { ...told(NO_USAGE, counters, counters), final: true };
}

function change(step: FoldStep, usage: LiveUsage, part: string): void {
  const { seq } = step.record;
  if (seq < step.turn.usageSeq) return;
  step.set({ usage, usageSeq: seq });
  step.emit('UsageChanged', { usage }, part);
}

function told(before: LiveUsage, counters: Payload, rates: Payload): LiveUsage {
  return {
    inputTokens: number(counters, 'input_tokens') ?? before.inputTokens,
    outputTokens: number(counters, 'output_tokens') ?? before.outputTokens,
    cacheReadTokens: number(counters, 'cache_read_tokens') ?? before.cacheReadTokens,
    cacheWriteTokens: number(counters, 'cache_write_tokens') ?? before.cacheWriteTokens,
    cacheHitPercent: number(counters, 'turn_cache_hit_percent') ?? number(counters, 'cache_hit_percent') ?? before.cacheHitPercent,
    contextLength: number(counters, 'context_length') ?? before.contextLength,
    thresholdTokens: number(counters, 'threshold_tokens') ?? before.thresholdTokens,
    lastPromptTokens: number(counters, 'last_prompt_tokens') ?? before.lastPromptTokens,
    contextTokensAfterCompaction: number(counters, 'post_compression_context_tokens_estimate') ?? before.contextTokensAfterCompaction,
    estimatedCost: number(counters, 'estimated_cost') ?? before.estimatedCost,
    tokensPerSecond: number(rates, 'tps') ?? before.tokensPerSecond,
    timeToFirstTokenMs: number(rates, 'ttft_ms') ?? before.timeToFirstTokenMs,
    durationSeconds: number(counters, 'duration_seconds') ?? before.durationSeconds,
    model: word(counters, 'used_model') ?? before.model,
    final: before.final,
  };
}
