/**
 * Reads of a store that can take long, as jobs for another process: what each takes and gives. `src/jobs/job-process.ts` runs them.
 */

import { type Page, type PageRequest, plainPage } from '../paging.ts';
import type { FileJob, FileJobResults } from '../web-ui/file-jobs.ts';
import type { OpenAnswer, OpenRequest } from '../web-ui/transcript/open-transcripts.ts';
import { sqlListPage, sqlListTotals } from './beyond-catalogue.ts';
import type { PlacedSession } from './catalogue.ts';
import type { StoreConnection } from './connection.ts';
import { examineStore, type StoreExamination } from './examination/examine-store.ts';
import { type HistoryJob, type HistoryJobResults, runHistoryJob } from './history-jobs.ts';
import type { ListQuery, ListTotals } from './listing.ts';
import { type MessagePageRequest, messageCounts, messagePages, type PagedMessage } from './messages.ts';
import { type SearchAnswer, type SearchQuery, search } from './search/search.ts';
import { type StoreCounts, storeCounts } from './status.ts';
import { readTranscripts, type Transcript, type TranscriptRequest } from './transcript.ts';
import { type UsageBucket, type UsageDimension, type UsageFilter, usageBuckets } from './usage.ts';
import { type ExportRequest, type WrittenExport, writeExport } from './write-export.ts';

export type StoreJob =
  | { readonly kind: 'search'; readonly query: SearchQuery; readonly generation: string }
  | { readonly kind: 'usage'; readonly filter: UsageFilter; readonly groupBy: readonly UsageDimension[]; readonly profile: string }
  | { readonly kind: 'list'; readonly query: ListQuery; readonly page: PageRequest; readonly generation: string }
  | { readonly kind: 'counts' }
  | { readonly kind: 'examine'; readonly deep: boolean }
  | { readonly kind: 'export'; readonly request: ExportRequest }
  | { readonly kind: 'totals'; readonly query: ListQuery }
  | { readonly kind: 'transcripts'; readonly requests: readonly TranscriptRequest[]; readonly largest: number }
  | { readonly kind: 'messagePages'; readonly requests: readonly MessagePageRequest[]; readonly generation: string }
  | HistoryJob
  | OpenTranscriptsJob
  | FileJob
  | { readonly kind: 'messageCounts'; readonly requests: readonly Pick<MessagePageRequest, 'sessionIds' | 'view'>[] };

/** Reads files too, as `FileJob` does: `runStoreJob` doesn't know them. */
export interface OpenTranscriptsJob {
  readonly kind: 'openTranscripts';
  readonly sessionsDir: string;
  readonly requests: readonly OpenRequest[];
}

export interface StoreJobResults extends HistoryJobResults, FileJobResults {
  search: SearchAnswer;
  usage: UsageBucket[];
  list: Page<PlacedSession>;
  totals: ListTotals;
  counts: StoreCounts;
  examine: StoreExamination;
  export: WrittenExport | null;
  transcripts: (Transcript | 'TOO_LARGE')[];
  messagePages: Page<PagedMessage>[];
  messageCounts: number[];
  openTranscripts: OpenAnswer[];
}

export type ResultOf<J extends StoreJob> = StoreJobResults[J['kind']];

/** What travels to the other process. */
export interface StoreJobMessage {
  readonly path: string;
  readonly strictObserver: boolean;
  /** See `StoreAccess.epoch`. */
  readonly epoch: number;
  readonly job: StoreJob;
}

export function runStoreJob(
  connection: StoreConnection,
  job: Exclude<StoreJob, OpenTranscriptsJob | FileJob>,
): StoreJobResults[StoreJob['kind']] {
  switch (job.kind) {
    case 'search':
      return search(connection, job.query, job.generation);
    case 'usage':
      return usageBuckets(connection, job.filter, job.groupBy, job.profile);
    case 'list':
      return sqlListPage(connection, job.query, job.page, job.generation);
    case 'counts':
      return storeCounts(connection);
    case 'examine':
      return examineStore(connection, job.deep);
    case 'export':
      return writeExport(connection, job.request);
    case 'totals':
      return sqlListTotals(connection, job.query);
    case 'transcripts':
      return readTranscripts(connection, job.requests, job.largest);
    case 'messagePages':
      return messagePages(connection, job.requests, job.generation).map(plainPage);
    case 'messageCounts':
      return messageCounts(connection, job.requests);
    default:
      return runHistoryJob(connection, job);
  }
}
