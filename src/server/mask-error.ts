/**
 * What a client hears of an error: our own errors with their code, GraphQL's own as they are, everything else masked, with an id under
 * which the cause stands in the log (`field-cases` F84).
 */
import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { CaduceusError } from '../errors.ts';

export function createErrorMask(log: Logger): (error: unknown) => Error {
  return (error) => {
    const cause = error instanceof GraphQLError ? error.originalError : error;
    if (cause instanceof CaduceusError) return located(error, cause.message, { code: cause.code, ...cause.details });
    // Syntax, validation, limits and scalars: written by GraphQL or by our schema for the client.
    if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) return coded(error);
    const errorId = randomUUID();
    log.error({ errorId, err: cause ?? error }, 'unexpected error');
    return located(error, `Something went wrong in the server. It is logged under ${errorId}.`, { code: 'INTERNAL', errorId });
  };
}

function located(error: unknown, message: string, extensions: Record<string, unknown>): GraphQLError {
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { extensions });
  const { nodes, source, positions, path } = error;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
  });
}

function coded(error: GraphQLError): GraphQLError {
  if (error.extensions.code !== undefined) return error;
  error.extensions.code = 'BAD_USER_INPUT';
  return error;
}
