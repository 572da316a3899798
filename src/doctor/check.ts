/** One check of the doctor: reads through the sources, gives findings, and may throw. */
import type { Finding } from './finding.ts';
import type { Area } from './kind.ts';
import type { DoctorSources } from './sources.ts';

export interface Check {
  readonly name: string;
  readonly area: Area;
  /** It reads much. */
  readonly onlyDeep?: true;
  readonly run: (sources: DoctorSources) => Promise<readonly Finding[]>;
}
