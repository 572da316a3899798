import type { DataWarning } from '../src/state-db/decode.ts';
import { builder } from './builder.ts';

export const Warning = builder.objectRef<DataWarning>('DataWarning').implement({
  description: 'A stored value that could not be trusted, and what was done about it. The item is shown all the same.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs, for example TIME_OUT_OF_RANGE or INVALID_JSON.' }),
    message: t.exposeString('message', { description: 'For people.' }),
    field: t.exposeString('field', { nullable: true, description: 'The column; null when it is about the whole row.' }),
  }),
});
