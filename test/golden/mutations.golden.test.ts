/**
 * Every change that upstream's own writers were recorded with (`golden/STORE/mutations.json`), done by ours: the answers and every row that
 * changed are equal, or differ as `docs/deviations.md` says.
 */
import { commandHost } from '../support/command-host.ts';
import { goldenKind } from './compare.ts';
import { MUTATED_STORES } from './mutation-cases.ts';
import { GATEWAY_HANDLERS, gatewayRules, LOCKS_ELSEWHERE } from './mutation-handlers-gateway.ts';
import { REWIND_HANDLERS, rewindRules } from './mutation-handlers-rewind.ts';
import { ROW_HANDLERS, ROWS_ELSEWHERE } from './mutation-handlers-rows.ts';
import { LEFT_TO_THE_AGENT, SESSION_HANDLERS, sessionRules } from './mutation-handlers-sessions.ts';
import { mutationHandler, openMutations } from './mutation-runner.ts';

goldenKind('mutations', MUTATED_STORES, openMutations, {
  '': mutationHandler({
    open: (path, now) => Object.assign(commandHost(path), { now }),
    close: (host) => host.close(),
    handlers: { ...REWIND_HANDLERS, ...ROW_HANDLERS, ...SESSION_HANDLERS, ...GATEWAY_HANDLERS },
    elsewhere: { ...ROWS_ELSEWHERE, ...LEFT_TO_THE_AGENT, ...LOCKS_ELSEWHERE },
    rules: (golden, store) => [...rewindRules(golden, store), ...sessionRules(golden, store), ...gatewayRules(golden, store)],
  }),
});
