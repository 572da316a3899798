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

/** A result as the iterator that all its readers share hands it out. */
type Given = IteratorYieldResult<ExecutionResult>;
type Executed = Map<string, Given | Promise<Given>>;

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

/** At once where nothing has to be loaded. */
function execute(args: ValidatedSubscriptionArgs, payload: unknown, mask: SubscribeOptions['mask']): Given | Promise<Given> {
  (args.contextValue as { readonly reset: () => void }).reset();
  const result = executeSubscriptionEvent({ ...args, rootValue: payload });
  const given = (value: ExecutionResult): Given => ({ value: masked(value, mask), done: false });
  return result instanceof Promise ? result.then(given) : given(result as ExecutionResult);
}

function masked(result: ExecutionResult, mask: SubscribeOptions['mask']): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => mask(error) as GraphQLError) };
}

/** Written by hand, and without `async`: each generator and each promise between a source and a socket is paid for at every delivery. */
class Results implements AsyncIterableIterator<ExecutionResult> {
  readonly #source: AsyncIterator<unknown>;
  readonly #mask: SubscribeOptions['mask'];
  readonly #execute: (payload: unknown) => Given | Promise<Given>;
  #failed = false;

  constructor(source: AsyncIterator<unknown>, mask: SubscribeOptions['mask'], executeOn: (payload: unknown) => Given | Promise<Given>) {
    this.#source = source;
    this.#mask = mask;
    this.#execute = executeOn;
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    return this.#failed ? Promise.resolve(DONE) : this.#source.next().then(this.#onEvent, this.#onFailure);
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    await this.#source.return?.();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #onEvent = ({ value, done }: IteratorResult<unknown>) => (done ? DONE : this.#execute(value));

  /** A source that fails is the last result. */
  readonly #onFailure = (error: unknown): Given => {
    this.#failed = true;
    return { value: { errors: [this.#mask(error) as GraphQLError] }, done: false };
  };
}

const DONE: IteratorReturnResult<undefined> = { value: undefined, done: true };

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
