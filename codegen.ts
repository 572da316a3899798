import type { CodegenConfig } from '@graphql-codegen/cli';

/** Typed documents for tests and examples, from the printed schema: loading the code here would bring a second graphql. */
const config: CodegenConfig = {
  schema: 'schema/schema.graphql',
  documents: ['test/**/*.ts', 'examples/**/*.ts', '!test/generated/**'],
  ignoreNoDocuments: true,
  importExtension: '.ts',
  generates: {
    'test/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        useTypeImports: true,
        strictScalars: true,
        scalars: { DateTime: 'string', JSON: 'unknown', LiveCursor: 'string' },
        enumsAsTypes: true,
      },
    },
  },
};

export default config;
