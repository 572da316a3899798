/**
 * The 87 field cases and where they are covered: by tests that carry the number in their names, or by a later issue, with the reason.
 */
export type FieldCase = { readonly coveredBy: readonly string[] } | { readonly later: 'Web UI' | 'live turns'; readonly because: string };

const by = (...coveredBy: string[]): FieldCase => ({ coveredBy });
const liveTurns = (because: string): FieldCase => ({ later: 'live turns', because });

const LISTS = 'graphql/lists.test.ts';
const FIGURES = 'graphql/figures.test.ts';
const TRANSCRIPTS = 'graphql/transcripts.test.ts';
const SEARCH = 'graphql/search.test.ts';
const HEALTH = 'graphql/store-health.test.ts';
const DAMAGE = 'graphql/damage.test.ts';
const LARGE = 'graphql/large.test.ts';
const WRITING = 'graphql/field-cases-writing.test.ts';
const CHANGES = 'graphql/field-cases-changes.test.ts';
const BAD_STORES = 'graphql/field-cases-bad-stores.test.ts';
const WITHOUT_STORE = 'graphql/web-ui-without-store.test.ts';
const WEB_UI = 'graphql/field-cases-web-ui.test.ts';
const RECOVERY = 'graphql/recovery.test.ts';
const MAINTENANCE = 'graphql/maintenance.test.ts';
const FEED = 'live/session-feed.test.ts';
const SUBSCRIPTIONS = 'live/subscriptions.test.ts';

export const FIELD_CASES: readonly (readonly [number: string, FieldCase])[] = [
  ['F01', by(LISTS, LARGE)],
  ['F02', by(WEB_UI)],
  ['F03', by(LISTS, FEED)],
  ['F04', by(LISTS)],
  ['F05', by(LISTS)],
  ['F06', by(LISTS)],
  ['F07', by(LISTS, 'graphql/bad-input.test.ts')],
  ['F08', by(LISTS)],
  ['F09', by(LISTS, CHANGES)],
  ['F10', by(WEB_UI)],
  ['F11', by(CHANGES)],
  ['F12', by(CHANGES)],
  ['F13', by(FIGURES)],
  ['F14', by(FIGURES, WRITING)],
  ['F15', by(FIGURES)],
  ['F16', by(FIGURES)],
  ['F17', by(TRANSCRIPTS, WRITING)],
  ['F18', by(TRANSCRIPTS)],
  ['F19', by(TRANSCRIPTS)],
  ['F20', by(DAMAGE, BAD_STORES)],
  ['F21', by(TRANSCRIPTS)],
  ['F22', by(TRANSCRIPTS)],
  ['F23', by(TRANSCRIPTS, CHANGES)],
  ['F24', by(TRANSCRIPTS)],
  ['F25', by('graphql/web-ui-restoring.test.ts')],
  ['F26', by(WEB_UI)],
  ['F27', by(TRANSCRIPTS)],
  ['F28', by(TRANSCRIPTS)],
  ['F29', by(RECOVERY)],
  ['F30', by(FIGURES)],
  ['F31', by(WEB_UI)],
  ['F32', by(WEB_UI)],
  ['F33', by(WRITING, 'fault/killed-rewrites.test.ts')],
  ['F34', by(WRITING)],
  ['F35', by(RECOVERY)],
  ['F36', by(RECOVERY)],
  ['F37', by(RECOVERY)],
  ['F38', by(FIGURES, CHANGES)],
  ['F39', by(WRITING)],
  ['F40', by(WRITING)],
  ['F41', by(WRITING)],
  ['F42', liveTurns('liveTurn, resuming at a cursor')],
  ['F43', liveTurns('liveTurn, the cursor of an earlier run')],
  ['F44', liveTurns('liveTurn, joining in the middle')],
  ['F45', liveTurns('liveTurn, a hole in a journal')],
  ['F46', liveTurns('liveTurn, a turn that ended meanwhile')],
  ['F47', liveTurns('liveTurn, two conversations on one socket')],
  ['F48', by(FEED)],
  ['F49', by(SEARCH)],
  ['F50', by(SEARCH)],
  ['F51', by(SEARCH, BAD_STORES, MAINTENANCE)],
  ['F52', by(SEARCH)],
  ['F53', by(HEALTH, MAINTENANCE, WITHOUT_STORE)],
  ['F54', by(DAMAGE, BAD_STORES)],
  ['F55', by(DAMAGE, BAD_STORES, 'live/session-feed-resume.test.ts')],
  ['F56', by(HEALTH, BAD_STORES, WITHOUT_STORE)],
  ['F57', by(DAMAGE, 'graphql/fixtures.test.ts')],
  ['F58', by(DAMAGE)],
  ['F59', by(LARGE, CHANGES)],
  ['F60', by(DAMAGE)],
  ['F61', by('server/logging.test.ts', 'collapse-repeats.test.ts')],
  ['F62', by(CHANGES)],
  ['F63', by(CHANGES)],
  ['F64', by(CHANGES)],
  ['F65', by(DAMAGE)],
  ['F66', by(CHANGES)],
  ['F67', by('graphql/statement-counts.test.ts')],
  ['F68', by(LARGE)],
  // Reports of storage and purges of journals belong to the doctor.
  ['F69', by(LARGE)],
  ['F70', by('server/gate.test.ts')],
  ['F71', by('server/gate.test.ts')],
  ['F72', by('server/gate.test.ts')],
  ['F73', by('graphql/bad-input.test.ts', CHANGES)],
  ['F74', by(HEALTH)],
  ['F75', by(HEALTH)],
  ['F76', by(FIGURES)],
  ['F77', by(FIGURES, WRITING)],
  ['F78', by(SUBSCRIPTIONS)],
  ['F79', by('server/limits.test.ts', FEED)],
  ['F80', by(SUBSCRIPTIONS)],
  ['F81', by(LARGE, WRITING)],
  ['F82', by(WRITING)],
  ['F83', by('server/limits.test.ts')],
  ['F84', by('server/logging.test.ts')],
  ['F85', by('server/http.test.ts')],
  ['F86', by(SUBSCRIPTIONS)],
  ['F87', by('server/sockets.test.ts')],
];
