import type { InputRef } from '@pothos/core';
import { LARGEST_MESSAGE_BYTES, ROLES, type TranscriptMessageArguments } from '../resolvers/transcript-input.ts';
import { builder } from './builder.ts';

/** A message to write; `resolvers/transcript-input.ts` checks it. */
export const TranscriptMessageInput: InputRef<TranscriptMessageArguments> = builder.inputType('TranscriptMessageInput', {
  description: `A message to write, at most ${LARGEST_MESSAGE_BYTES / 1024 / 1024} MiB of JSON. Ids and names have at most 512 characters and no control characters.`,
  fields: (t) => ({
    role: t.string({ required: true, description: `One of ${ROLES.join(', ')}.` }),
    content: t.field({ type: 'JSON', description: 'Text, or a list of parts as the provider takes them.' }),
    toolCalls: t.field({ type: 'JSON', description: 'The calls that an assistant makes: a list, or the JSON text of one.' }),
    toolCallId: t.string({ description: 'Of the call that a tool row answers.' }),
    toolName: t.string({ description: 'Of the tool that answered.' }),
    effectDisposition: t.string({ description: 'What a tool did to the world, in the words of the owning programs.' }),
    timestamp: t.field({ type: 'DateTime', description: 'When it was said; default: now.' }),
    tokenCount: t.int({ description: 'Tokens, where they are known.' }),
    finishReason: t.string({ description: 'Why the model stopped.' }),
    reasoning: t.string({ description: "The model's reasoning; kept for assistants only, as the four below." }),
    reasoningContent: t.string({ description: 'Reasoning in the form that the provider wants back.' }),
    reasoningDetails: t.field({ type: 'JSON', description: 'Structured reasoning.' }),
    codexReasoningItems: t.field({ type: 'JSON', description: 'Reasoning items of the Responses API.' }),
    codexMessageItems: t.field({ type: 'JSON', description: 'Message items of the Responses API.' }),
    platformMessageId: t.string({ description: 'Its id on the platform that it came from.' }),
    observed: t.boolean({ description: 'Seen in a group, not addressed to the agent.' }),
    compressedSummary: t.boolean({ description: 'The row is the summary of a compaction.' }),
    apiContent: t.string({ description: 'The exact text that the provider was given, where it differed from content.' }),
    displayKind: t.string({ description: 'How a timeline shows it, for example hidden.' }),
    displayMetadata: t.field({ type: 'JSON', description: 'An object for that; keys that start with _ are reserved.' }),
    messageUid: t.string({ description: 'The lasting id of the message; default: a new one.' }),
  }),
});
