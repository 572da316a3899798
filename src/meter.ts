/**
 * What one request costs the stores, for its log line: statements run and rows read. The meter travels with the asynchronous
 * context of the request, so that no function in between has to hand it on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export class Meter {
  statements = 0;
  rows = 0;
}

const storage = new AsyncLocalStorage<Meter>();

/** Runs `work` with a meter; everything that it starts counts there. */
export function metered<T>(meter: Meter, work: () => T): T {
  return storage.run(meter, work);
}

export function countStatement(rows: number, statements = 1): void {
  const meter = storage.getStore();
  if (meter === undefined) return;
  meter.statements += statements;
  meter.rows += rows;
}
