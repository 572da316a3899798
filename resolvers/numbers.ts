import { InvalidInput } from '../src/errors.ts';

/** GraphQL's Int has 32 bits; what doesn't fit is null, never an error that takes a list down (`field-cases` F77). */
export function int32(value: number | null): number | null {
  return value === null || !Number.isInteger(value) || Math.abs(value) > 2_147_483_647 ? null : value;
}

/** How many items of a short list are wanted: 1 to `most`. Throws `InvalidInput`. */
export function checkedCount(name: string, value: number, most: number): number {
  if (value < 1 || value > most) throw new InvalidInput(`${name} must be between 1 and ${most}; it was ${value}.`);
  return value;
}
