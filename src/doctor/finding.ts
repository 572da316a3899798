/** What the doctor says: one thing that is wrong, how bad it is, and which mutation mends it. Plain values. */
import { type CodeName, FINDINGS } from './catalogue.ts';
import type { Area, Kind, Severity } from './kind.ts';

export interface Finding {
  readonly code: CodeName;
  readonly severity: Severity;
  readonly area: Area;
  readonly message: string;
  /** The session, file, run or key it is about; null: the whole. */
  readonly subject: string | null;
  /** A mutation with its arguments, as GraphQL writes it; null where no mutation of this server helps. */
  readonly remedy: string | null;
  /** Of the things that it stands for. */
  readonly count: number;
}

/** What a check knows of one case. */
export interface Case {
  readonly subject?: string | null;
  /** Default 1. */
  readonly count?: number;
  /** More for the sentence: figures and words of this server, never text of a store or a file. */
  readonly detail?: string;
  /** For the remedy. */
  readonly values?: Readonly<Record<string, string>>;
}

/** The finding of a code in a profile. */
export function finding(code: CodeName, profile: string, { subject = null, count = 1, detail = '', values = {} }: Case = {}): Finding {
  const kind: Kind = FINDINGS[code];
  const message = detail === '' ? kind.message : `${kind.message} ${detail}`;
  return {
    code,
    severity: kind.severity,
    area: kind.area,
    message,
    subject,
    count,
    remedy: kind.remedy?.({ profile, subject, values }) ?? null,
  };
}

/** One finding for each subject, as many as are shown, and one for the rest. */
export function findings(
  code: CodeName,
  profile: string,
  { count, ids }: { readonly count: number; readonly ids: readonly string[] },
): Finding[] {
  const each = ids.map((subject) => finding(code, profile, { subject }));
  const rest = count - ids.length;
  return rest <= 0 ? each : [...each, moreOf(code, profile, rest)];
}

/** Subjects of one code that are named. */
export const MOST_NAMED = 50;

/** Stands for those that are not named. */
export function moreOf(code: CodeName, profile: string, count: number): Finding {
  return finding(code, profile, { count, detail: `There are ${count} more.` });
}
