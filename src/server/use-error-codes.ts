/**
 * Codes for what is wrong with a document: the same on every transport, whoever answers there.
 */
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

export function useErrorCodes(): Plugin {
  return {
    onParse:
      () =>
      ({ result }) => {
        if (result instanceof GraphQLError) result.extensions.code ??= 'GRAPHQL_PARSE_FAILED';
      },
    onValidate:
      () =>
      ({ result }) => {
        for (const error of result) if (error instanceof GraphQLError) error.extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
      },
  };
}
