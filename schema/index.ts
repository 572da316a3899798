/**
 * The schema: every file adds its noun to the builder, in an order in which each finds what it refers to.
 */
import type { GraphQLSchema } from 'graphql';
import { builder } from './builder.ts';
import './scalars.ts';

builder.queryType({ description: 'Everything that can be read.' });
builder.mutationType({
  description: 'Everything that changes a store. Off unless the server was started with --allow-writes; dryRun always works.',
});

import './node.ts';
import './errors.ts';
import './store.ts';
import './usage.ts';
import './liveness.ts';
import './session.ts';
import './session-facts.ts';
import './project.ts';
import './sidecar.ts';
import './activity-scenes.ts';
import './lineage.ts';
import './lineage-report.ts';
import './merge-preview.ts';
import './message.ts';
import './session-history.ts';
import './search.ts';
import './run.ts';
import './run-events.ts';
import './journaled-turn.ts';
import './live.ts';
import './live-turn.ts';
import './live-status.ts';
import './cache-stats.ts';
import './message-facts.ts';
import './sidecar-lag.ts';
import './lease.ts';
import './append.ts';
import './spool.ts';
import './maintenance.ts';
import './export.ts';
import './rewind.ts';
import './rewrite.ts';
import './rows.ts';
import './message-changes.ts';
import './row-queries.ts';
import './session-config.ts';
import './clean-markers.ts';
import './deliver-result.ts';
import './session-life.ts';
import './sidecar-changes.ts';
import './new-web-ui-session.ts';
import './session-marks.ts';
import './project-changes.ts';
import './upkeep.ts';
import './doctor.ts';
import './recovery.ts';
import './pending-turn.ts';
import './session-removal.ts';
import './session-deletion.ts';
import './cleanup.ts';
import './session-backing.ts';
import './lost-files.ts';
import './restoring.ts';

export const schema: GraphQLSchema = builder.toSchema();
