/**
 * Subscriptions in which equal operations on one payload are executed once, whoever is subscribed (`spec/live-turns.md` 16): executing a
 * frame costs tens of microseconds, handing on its result almost nothing.
 */
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  type FieldNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
  visit,
} from 'graphql';
import { isShared } from '../shared-payload.ts';

type Executed = Map<string, Promise<ExecutionResult>>;

export interface SubscribeOptions {
  /** What a client hears of an error. */
  readonly mask: (error: unknown) => Error;
}

/** As `subscribe` of graphql-js, with masked errors, and with a context that forgets before each event what it has loaded (`field-cases` F80). */
export async function subscribeShared(
  args: ExecutionArgs,
  { mask }: SubscribeOptions,
): Promise<ExecutionResult | AsyncIterableIterator<ExecutionResult>> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return masked({ errors: validated }, mask);
  const source = await createSourceEventStream(validated);
  if (!(Symbol.asyncIterator in source)) return masked(source, mask);
  const operation = operationKey(args);
  return new Results(source[Symbol.asyncIterator](), mask, (payload) => {
    if (!isShared(payload)) return execute(validated, payload, mask);
    const results: Executed = executed.get(payload) ?? new Map();
    executed.set(payload, results);
    const known = results.get(operation);
    if (known !== undefined) return known;
    const result = execute(validated, payload, mask);
    results.set(operation, result);
    return result;
  });
}

const executed = new WeakMap<object, Executed>();

async function execute(args: ValidatedSubscriptionArgs, payload: unknown, mask: SubscribeOptions['mask']): Promise<ExecutionResult> {
  (args.contextValue as { readonly reset: () => void }).reset();
  return masked(await executeSubscriptionEvent({ ...args, rootValue: payload }), mask);
}

function masked(result: ExecutionResult, mask: SubscribeOptions['mask']): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => mask(error) as GraphQLError) };
}

/** Written by hand: each generator between a source and a socket costs as much as the rest of a delivery. */
class Results implements AsyncIterableIterator<ExecutionResult> {
  readonly #source: AsyncIterator<unknown>;
  readonly #mask: SubscribeOptions['mask'];
  readonly #execute: (payload: unknown) => Promise<ExecutionResult>;
  #failed = false;

  constructor(source: AsyncIterator<unknown>, mask: SubscribeOptions['mask'], executeOn: (payload: unknown) => Promise<ExecutionResult>) {
    this.#source = source;
    this.#mask = mask;
    this.#execute = executeOn;
  }

  /** A source that fails is the last result. */
  async next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#failed) return { value: undefined, done: true };
    let event: IteratorResult<unknown>;
    try {
      event = await this.#source.next();
    } catch (error) {
      this.#failed = true;
      return { value: { errors: [this.#mask(error) as GraphQLError] }, done: false };
    }
    return event.done ? { value: undefined, done: true } : { value: await this.#execute(event.value), done: false };
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    await this.#source.return?.();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

let lastNumber = 0;
const numbers = new WeakMap<DocumentNode, number>();

/** Equal for operations that give the same result on the same payload. The arguments of the root field have chosen the payload already. */
function operationKey({ document, operationName, variableValues }: ExecutionArgs): string {
  const number = numbers.get(document) ?? ++lastNumber;
  numbers.set(document, number);
  const given = variableValues ?? {};
  const used = [...variablesBelowRoot(document)].map((name) => [name, given[name]]);
  return JSON.stringify([number, operationName, used]);
}

const used = new WeakMap<DocumentNode, ReadonlySet<string>>();

/** Variables that something else than an argument of a root field uses. */
function variablesBelowRoot(document: DocumentNode): ReadonlySet<string> {
  const known = used.get(document);
  if (known !== undefined) return known;
  const found = new Set<string>();
  const rootFields = new Set<FieldNode>();
  const isOperation = (node: { readonly kind: string }): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION;
  for (const operation of document.definitions.filter(isOperation)) {
    for (const selection of operation.selectionSet.selections) if (selection.kind === Kind.FIELD) rootFields.add(selection);
  }
  visit(document, {
    VariableDefinition: () => false,
    Argument: (_, __, ___, ____, ancestors) => (rootFields.has(ancestors.at(-1) as FieldNode) ? false : undefined),
    Variable: ({ name }) => {
      found.add(name.value);
    },
  });
  used.set(document, found);
  return found;
}
