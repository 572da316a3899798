import type { CodegenConfig } from '@graphql-codegen/cli';

/** Typed documents for tests and examples, from the printed schema: loading the code here would bring a second graphql. */
const config: CodegenConfig = {
  schema: 'schema/schema.graphql',
  ignoreNoDocuments: true,
  importExtension: '.ts',
  generates: {
    'test/generated/': documentsOf('test'),
    'examples/generated/': documentsOf('examples'),
  },
};

/** Each folder has a set of its own, so that an example stays readable without the tests. */
function documentsOf(folder: string): CodegenConfig['generates'][string] {
  return {
    documents: [`${folder}/**/*.ts`, `!${folder}/generated/**`],
    preset: 'client',
    presetConfig: { fragmentMasking: false },
    config: {
      documentMode: 'string',
      useTypeImports: true,
      strictScalars: true,
      scalars: { DateTime: 'string', JSON: 'unknown', LiveCursor: 'string' },
      enumsAsTypes: true,
    },
  };
}

export default config;
