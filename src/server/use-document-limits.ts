/**
 * Limits that a document alone can break: its tokens and its aliases. What depends on variables, depth and cost, is checked when a root
 * field starts, since a validation result is kept for the document's next use.
 */
import { type ASTVisitor, GraphQLError, parse, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

export interface DocumentLimits {
  readonly maxTokens: number;
  readonly maxAliases: number;
}

export function useDocumentLimits({ maxTokens, maxAliases }: DocumentLimits): Plugin {
  const aliasLimit = (context: ValidationContext): ASTVisitor => {
    let aliases = 0;
    return {
      Field: (node) => {
        if (node.alias === undefined || ++aliases !== maxAliases + 1) return;
        context.reportError(
          new GraphQLError(`The document uses more than ${maxAliases} aliases. Ask for less at once, or raise --max-aliases.`, {
            nodes: node,
            extensions: { code: 'TOO_MANY_ALIASES', limit: maxAliases, setting: '--max-aliases' },
          }),
        );
      },
    };
  };
  return {
    onParse: ({ setParseFn }) => {
      setParseFn((source) => {
        try {
          return parse(source, { maxTokens });
        } catch (error) {
          throw isTokenLimit(error) ? tooManyTokens(maxTokens) : error;
        }
      });
    },
    onValidate: ({ addValidationRule }) => addValidationRule(aliasLimit),
  };
}

function isTokenLimit(error: unknown): boolean {
  return error instanceof GraphQLError && error.message.includes('contains more than');
}

function tooManyTokens(maxTokens: number): GraphQLError {
  return new GraphQLError(`The document has more than ${maxTokens} tokens. Ask for less at once, or raise --max-tokens.`, {
    extensions: { code: 'TOO_MANY_TOKENS', limit: maxTokens, setting: '--max-tokens', http: { status: 400 } },
  });
}
