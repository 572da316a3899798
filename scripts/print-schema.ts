/**
 * Prints the schema to schema/schema.graphql, so that a change of the API shows in the diff. With --check it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../schema/index.ts';

const file = new URL('../schema/schema.graphql', import.meta.url);
const printed = `# Printed from the code by npm run schema:print; don't edit.\n\n${printSchema(lexicographicSortSchema(schema))}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, printed);
} else if (readFileSync(file, 'utf8') !== printed) {
  console.error('schema/schema.graphql is not what the code says. Run npm run schema:print and look at the difference.');
  process.exitCode = 1;
}
