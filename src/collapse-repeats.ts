/**
 * The same failure again and again is one line a minute (`field-cases` F61).
 */
const INTERVAL_MS = 60_000;
/** Different failures that are remembered; beyond, the oldest is forgotten. */
const MOST_CAUSES = 100;

/** Gives what to call with each error: `report` hears of a new one at once, of a known one once a minute with how often it came since. */
export function collapseRepeats(
  report: (error: unknown, times: number) => void,
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  const seen = new Map<string, { at: number; times: number }>();
  return (error) => {
    const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const known = seen.get(cause);
    if (known !== undefined && now() - known.at < INTERVAL_MS) {
      known.times++;
      return;
    }
    seen.delete(cause);
    seen.set(cause, { at: now(), times: 0 });
    const [oldest] = seen.keys();
    if (seen.size > MOST_CAUSES && oldest !== undefined) seen.delete(oldest);
    report(error, (known?.times ?? 0) + 1);
  };
}
