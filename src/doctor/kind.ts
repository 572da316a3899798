/** What there is to say of one kind of trouble. */

/** ERROR: something is lost or can't be used. WARNING: something will be, or a person has to look. INFO: worth knowing. */
export const SEVERITIES = ['ERROR', 'WARNING', 'INFO'] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Area = 'STORE' | 'INDEX' | 'ROWS' | 'LEASES' | 'FILES' | 'JOURNALS' | 'SPOOL' | 'LEFTOVERS' | 'MACHINE' | 'DOCTOR';

export interface Kind {
  readonly area: Area;
  readonly severity: Severity;
  /** A sentence or two of this server: no text of a store or a file. */
  readonly message: string;
  /** The mutation with its arguments; left out where none helps. */
  readonly remedy?: (place: Place) => string | null;
}

export interface Place {
  readonly profile: string;
  readonly subject: string | null;
  /** For the remedy. */
  readonly values: Readonly<Record<string, string>>;
}
