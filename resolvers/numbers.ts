/** GraphQL's Int has 32 bits; what doesn't fit is null, never an error that takes a list down (`field-cases` F77). */
export function int32(value: number | null): number | null {
  return value === null || !Number.isInteger(value) || Math.abs(value) > 2_147_483_647 ? null : value;
}
