/** Whether two lists name the same ids, in whatever order and however often. */
export function sameIds(expected: readonly string[], actual: readonly string[]): boolean {
  const [wanted, found] = [new Set(expected), new Set(actual)];
  return wanted.size === found.size && [...wanted].every((id) => found.has(id));
}
