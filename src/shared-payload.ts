/**
 * Payloads of subscriptions that many subscribers get: marked so, one execution of an operation serves all of them
 * (`spec/live-turns.md` 16).
 */

/** Never on a payload whose fields depend on who asks, or that comes again with other content. */
export const SHARED: unique symbol = Symbol('shared payload');

export interface SharedPayload {
  readonly [SHARED]: true;
}

export function isShared(payload: unknown): payload is SharedPayload {
  return typeof payload === 'object' && payload !== null && SHARED in payload;
}
