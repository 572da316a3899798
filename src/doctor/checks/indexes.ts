/** Full-text indexes: whether search finds everything (`field-cases` F49 to F51, F58; `spec/state-db.md` 10). */
import type { StoreExamination } from '../../state-db/examination/examine-store.ts';
import type { CodeName } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { type Finding, finding } from '../finding.ts';

const CODES: Readonly<Record<NonNullable<StoreExamination['index']['problem']>, CodeName>> = {
  DAMAGED: 'SEARCH_INDEX_DAMAGED',
  MISSING: 'SEARCH_INDEX_MISSING',
  STALE: 'SEARCH_INDEX_STALE',
  REBUILDING: 'SEARCH_INDEX_REBUILDING',
};

export const searchIndex: Check = {
  name: 'search-index',
  area: 'INDEX',
  run: async ({ examination, profile }) => {
    const { index, deep } = await examination();
    const isDamaged = index.problem === 'DAMAGED' || (deep !== null && deep.integrity.lines.length > 0 && !deep.integrity.structural);
    const found: Finding[] = isDamaged ? [finding('SEARCH_INDEX_DAMAGED', profile)] : [];
    if (index.problem !== null && index.problem !== 'DAMAGED') found.push(finding(CODES[index.problem], profile));
    // Whoever gives an index up takes its triggers away.
    const missing = index.problem === 'STALE' ? 0 : index.missingTriggers.length;
    if (missing > 0) found.push(finding('SEARCH_TRIGGERS_MISSING', profile, { count: missing }));
    return found;
  },
};
