/** Rows of a store, together (`field-cases` F09, F13, F14, F19, F23, F53, F60, F65). */
import type { RoutingEntry } from '../../state-db/routing.ts';
import type { Check } from '../check.ts';
import { type Finding, finding, findings } from '../finding.ts';
import type { DoctorSources } from '../sources.ts';

export const rows: Check = {
  name: 'rows',
  area: 'ROWS',
  run: async ({ examination, profile }) => {
    const found = (await examination()).rows;
    const { strayMessages, unusableTimes } = found;
    return [
      ...findings('MODEL_CONFIG_INVALID', profile, found.invalidConfigs),
      ...findings('PARENT_MISSING', profile, found.missingParents),
      ...findings('PARENT_CYCLE', profile, found.parentCycles),
      ...findings('COMPRESSION_ORPHANED', profile, found.orphanedCompressions),
      ...findings('COMPRESSION_CHILD_EMPTY', profile, found.emptyContinuations),
      ...findings('TRANSCRIPT_ROWS_MISSING', profile, found.rowsMissing),
      ...(strayMessages === 0 ? [] : [finding('MESSAGES_WITHOUT_SESSION', profile, { count: strayMessages })]),
      ...(unusableTimes.count === 0 ? [] : [finding('SESSION_TIME_UNUSABLE', profile, { count: unusableTimes.count })]),
    ];
  },
};

export const deepRows: Check = {
  name: 'all-rows',
  area: 'ROWS',
  onlyDeep: true,
  run: async ({ examination, profile }) => {
    const { deep } = await examination();
    if (deep === null) return [];
    const { integrity, notUtf8, badJson, countersOff } = deep;
    return [
      ...(integrity.structural ? [finding('STORE_CORRUPT', profile)] : []),
      ...findings('TEXT_NOT_UTF8', profile, notUtf8),
      ...findings('MESSAGE_JSON_INVALID', profile, badJson),
      ...findings('COUNTERS_OFF', profile, countersOff),
    ];
  },
};

/** Deliveries that take longer than this are waited for in vain. */
const UNDELIVERED_SECONDS = 3600;
const MOST_DELEGATIONS = 200;

/** Where gateways send messages, and results that were to be delivered. */
export const routes: Check = {
  name: 'routes',
  area: 'ROWS',
  run: async (sources) => [...(await routesOf(sources)), ...(await undelivered(sources))],
};

async function routesOf({ store, profile }: DoctorSources): Promise<Finding[]> {
  const entries = await store.routing(null);
  const sessions = await store.sessions([...new Set(entries.map(({ sessionId }) => sessionId))]);
  return entries.flatMap((entry) => {
    const session = sessions.get(entry.sessionId);
    if (session === undefined) return [finding('ROUTE_TO_MISSING', profile, { subject: entry.sessionId })];
    if (session.endReason !== 'compression') return [];
    return [finding('ROUTE_TO_COMPRESSED', profile, { subject: entry.sessionId, values: routeValues(entry) })];
  });
}

function routeValues({ sessionKey, scope, sessionId }: RoutingEntry): Record<string, string> {
  return { sessionKey, ...(scope === '' ? {} : { scope }), expectedSessionId: sessionId };
}

async function undelivered({ store, profile, now }: DoctorSources): Promise<Finding[]> {
  const late = (await store.delegations(null, MOST_DELEGATIONS)).filter(
    (each) => each.undelivered && now() - (each.completedAt ?? each.updatedAt ?? now()) > UNDELIVERED_SECONDS,
  );
  return late.map(({ delegationId }) => finding('DELEGATION_UNDELIVERED', profile, { subject: delegationId }));
}
