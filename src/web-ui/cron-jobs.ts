/** The names of a profile's cron jobs: `cron/jobs.json` (`spec/webui-listing.md` 12.3). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../live/journal/open-journal.ts';
import { isJsonObject, parseJson } from '../state-db/decode.ts';

/** Names by job id; empty for a file that is missing, damaged or unreadable: they only make titles. */
export async function readCronJobNames(profileHome: string): Promise<Map<string, string>> {
  try {
    return parseCronJobNames(await readFile(join(profileHome, 'cron', 'jobs.json'), 'utf8'));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return new Map();
  }
}

export function parseCronJobNames(text: string): Map<string, string> {
  const parsed = parseJson(text);
  const jobs = isJsonObject(parsed) && Array.isArray(parsed.jobs) ? parsed.jobs : [];
  return new Map(
    jobs.flatMap((job: unknown) =>
      isJsonObject(job) && typeof job.id === 'string' && typeof job.name === 'string' ? [[job.id, job.name] as const] : [],
    ),
  );
}
