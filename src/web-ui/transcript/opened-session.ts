/**
 * An opened transcript as the graph serves it: each message with its name and with the answers to its calls.
 */
import type { StoredMessage } from '../../session-store.ts';
import type { DataWarning } from '../../state-db/decode.ts';
import type { RowDecision } from './merge-decision.ts';
import type { OpenedMessage, OpenedTranscript } from './open-transcripts.ts';

export interface OpenedStoredMessage extends StoredMessage {
  /** What it says, in short. */
  readonly mark: string;
}

export interface OpenedSession {
  readonly messages: readonly OpenedStoredMessage[];
  /** Messages of the file by their names. */
  readonly byKey: ReadonlyMap<string, OpenedStoredMessage>;
  readonly revision: string;
  readonly storeRevision: string | null;
  readonly source: string;
  readonly repairCount: number;
  readonly warnings: readonly DataWarning[];
  /** What became of each row, in their order. */
  readonly decisions: readonly RowDecision[];
  readonly rowIds: readonly (string | null)[];
}

type Parts = Pick<OpenedTranscript, 'messages' | 'revision' | 'storeRevision' | 'repairCount' | 'warnings' | 'decisions' | 'rowIds'> & {
  readonly source: string;
};

export function openedSession(profile: string, { messages: read, ...about }: Parts): OpenedSession {
  const messages: OpenedStoredMessage[] = [];
  const byKey = new Map<string, OpenedStoredMessage>();
  const answers = new Answers(messages);
  const said = new Map<string, number>();
  for (const [at, { isOfFile, ...record }] of read.entries()) {
    const key = isOfFile ? nameIn(said, record) : null;
    const message = { ...record, profile, opened: { key, answerTo: (id: string) => answers.after(at, id) } };
    messages.push(message);
    if (key !== null) byKey.set(key, message);
  }
  return { ...about, messages, byKey };
}

/** What a message says, and the how-manieth of the file it is that says so. */
function nameIn(said: Map<string, number>, { mark }: Pick<OpenedMessage, 'mark'>): string {
  const times = said.get(mark) ?? 0;
  said.set(mark, times + 1);
  return `${mark}.${times}`;
}

/** Results of tools by their calls, found when they are first asked for. */
class Answers {
  readonly #messages: readonly StoredMessage[];
  #places: ReadonlyMap<string, readonly number[]> | null = null;

  constructor(messages: readonly StoredMessage[]) {
    this.#messages = messages;
  }

  after(at: number, toolCallId: string): StoredMessage | null {
    this.#places ??= Map.groupBy(
      this.#messages.flatMap(({ role, toolCallId: id }, index) => (role === 'tool' && id !== null ? [index] : [])),
      (index) => this.#messages[index]?.toolCallId ?? '',
    );
    const place = this.#places.get(toolCallId)?.find((index) => index > at);
    return place === undefined ? null : (this.#messages[place] ?? null);
  }
}
