/** Mutations as a person would type them, with a dry run first where there is one. */
import type { Kind, Place } from './kind.ts';

type Argument = string | boolean | readonly string[];

/** `name(input: {a: "b"})`; strings are escaped as GraphQL has them. */
export function call(name: string, input: Readonly<Record<string, Argument>>): string {
  const members = Object.entries(input).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `${name}(input: {${members.join(', ')}})`;
}

/** A mutation on the profile. */
export function onProfile(name: string, more: Readonly<Record<string, Argument>> = {}): NonNullable<Kind['remedy']> {
  return ({ profile }) => call(name, { profile, ...more });
}

/** A mutation on the session that the finding is about; none where it stands for several. */
export function onSession(name: string): NonNullable<Kind['remedy']> {
  return ({ profile, subject }) => (subject === null ? null : call(name, { profile, sessionId: subject, dryRun: true }));
}

/** A mutation that takes the values of the case. */
export function withValues(name: string): NonNullable<Kind['remedy']> {
  return ({ profile, values }: Place) => (Object.keys(values).length === 0 ? null : call(name, { profile, ...values, dryRun: true }));
}

export const DRY = { dryRun: true } as const;
