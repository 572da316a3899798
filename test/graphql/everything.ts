/**
 * Documents that ask for everything a type has, made from the schema, so that a new field is tested without being thought of.
 */
import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../schema/index.ts';

export interface SelectionOptions {
  /** Arguments by `Type.field`, for example `{ 'Session.messages': '(last: 5)' }`. */
  readonly args?: Readonly<Record<string, string>>;
  /** Fields that are left out, by `Type.field`. */
  readonly without?: ReadonlySet<string>;
}

/** The selection set of a type: all its fields; of a type that is asked for inside of itself only what leads nowhere else. */
export function everythingOf(typeName: string, options: SelectionOptions = {}): string {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
  return selectionOf(type, options, []);
}

function selectionOf(type: GraphQLObjectType, options: SelectionOptions, path: readonly GraphQLObjectType[]): string {
  const repeated = path.includes(type);
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const name = `${type.name}.${field.name}`;
    if (options.without?.has(name)) return [];
    const args = options.args?.[name] ?? '';
    if (args === '' && field.args.some(isRequiredArgument)) return [];
    if (repeated && !isValue(field.type)) return [];
    const selection = selectionOfOutput(field.type, options, [...path, type]);
    return [`${field.name}${args}${selection}`];
  });
  return ` { ${['__typename', ...fields].join(' ')} }`;
}

function selectionOfOutput(output: GraphQLOutputType, options: SelectionOptions, path: readonly GraphQLObjectType[]): string {
  const type = getNamedType(output);
  if (isLeafType(type)) return '';
  if (!isAbstractType(type)) return selectionOf(type as GraphQLObjectType, options, path);
  const parts = schema.getPossibleTypes(type).map((possible) => `... on ${possible.name}${selectionOf(possible, options, path)}`);
  return ` { ${parts.join(' ')} }`;
}

/** A scalar, an enum, or an object made of nothing else. */
function isValue(output: GraphQLOutputType): boolean {
  const type = getNamedType(output);
  return isLeafType(type) || (isObjectType(type) && Object.values(type.getFields()).every((field) => isLeafType(getNamedType(field.type))));
}
