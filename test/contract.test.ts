/**
 * The printed schema holds what the contract promises: every name, with the same type, nullability, arguments and defaults. What is not
 * there yet stands in a table by the issue that brings it; a name that has come must leave the table.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type ASTNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  print,
  type StringValueNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';

const CONTRACT = resolve(process.env.CADUCEUS_CONTRACT ?? '../shared/contract.graphql');
const SCHEMA = join(import.meta.dirname, '..', 'schema', 'schema.graphql');

/** Names that other issues bring: a type stands for itself and all its fields. */
const PENDING: Readonly<Record<string, readonly string[]>> = {
  'Web UI': [
    'Mutation.startCompressionRecovery',
    'Mutation.restoreFromBackup',
    'Mutation.materializeSidecars',
  ],
  doctor: ['Query.doctor', 'DoctorReport', 'Finding'],
};

/** Where the schema differs on purpose, and why. Specifications of behaviour win over the contract (its own header). */
const DEVIATIONS: Readonly<Record<string, { readonly type: string; readonly because: string }>> = {
  'Session.messages': {
    type: 'MessageConnection',
    because:
      'field-cases F20: a transcript that is unreadable is an error at this field; as non-null it would take the session and its list along.',
  },
  'Session.transcript': { type: 'Transcript', because: 'field-cases F20, and TRANSCRIPT_TOO_LARGE (F68): as Session.messages.' },
};

interface Signature {
  readonly type: string;
  /** `name: type = default` of each argument. */
  readonly arguments: ReadonlyMap<string, string>;
}

/** What a document defines: fields as `Type.field`, values as `Enum.VALUE`, and the types themselves with what they are. */
function definitions(text: string): Map<string, Signature> {
  const found = new Map<string, Signature>();
  const define = (name: string, type: string, args: readonly InputValueDefinitionNode[] = []) =>
    found.set(name, { type, arguments: new Map(args.map((arg) => [arg.name.value, inputSignature(arg)])) });
  for (const node of parse(text).definitions as readonly DefinitionNode[]) {
    switch (node.kind) {
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION:
        define(node.name.value, node.kind);
        for (const implemented of node.interfaces ?? []) define(`${node.name.value} implements ${implemented.name.value}`, 'interface');
        for (const field of node.fields ?? []) define(`${node.name.value}.${field.name.value}`, print(field.type), field.arguments);
        break;
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        define(node.name.value, node.kind);
        for (const field of node.fields ?? []) define(`${node.name.value}.${field.name.value}`, inputSignature(field));
        break;
      case Kind.ENUM_TYPE_DEFINITION:
        define(node.name.value, node.kind);
        for (const value of node.values ?? []) define(`${node.name.value}.${value.name.value}`, 'value');
        break;
      case Kind.SCALAR_TYPE_DEFINITION:
      case Kind.UNION_TYPE_DEFINITION:
        define(node.name.value, node.kind);
        break;
    }
  }
  return found;
}

function inputSignature(node: InputValueDefinitionNode): string {
  return `${print(node.type)}${node.defaultValue === undefined ? '' : ` = ${print(node.defaultValue)}`}`;
}

const typeOf = (name: string) => name.split(/[. ]/)[0] ?? name;
const pendingNames = new Set(Object.values(PENDING).flat());
const isPending = (name: string) => pendingNames.has(name) || pendingNames.has(typeOf(name));

const hasContract = existsSync(CONTRACT);
if (!hasContract) {
  const line = '#'.repeat(100);
  console.error(`\n${line}\n## THE CONTRACT IS NOT CHECKED: there is none at ${CONTRACT}. Name it with CADUCEUS_CONTRACT.\n${line}\n`);
}

describe.skipIf(!hasContract)('the contract', () => {
  const promised = hasContract ? definitions(readFileSync(CONTRACT, 'utf8')) : new Map<string, Signature>();
  const ours = definitions(readFileSync(SCHEMA, 'utf8'));

  it('is held: every name is there, or stands in the table of what is to come', () => {
    expect([...promised.keys()].filter((name) => !ours.has(name) && !isPending(name))).toEqual([]);
  });

  it('is held in every type, nullability, argument and default', () => {
    const different: string[] = [];
    for (const [name, expected] of promised) {
      const actual = ours.get(name);
      if (actual === undefined || isPending(name)) continue;
      const type = DEVIATIONS[name]?.type ?? expected.type;
      if (actual.type !== type) different.push(`${name}: ${actual.type} instead of ${type}`);
      for (const [argument, signature] of expected.arguments) {
        const found = actual.arguments.get(argument);
        if (found !== signature) different.push(`${name}(${argument}): ${found ?? 'missing'} instead of ${signature}`);
      }
      for (const [argument, signature] of actual.arguments) {
        if (!expected.arguments.has(argument) && signature.endsWith('!'))
          different.push(`${name}(${argument}): required, and not in the contract`);
      }
    }
    expect(different).toEqual([]);
  });

  it('differs on purpose only where the table says so', () => {
    for (const [name, { type, because }] of Object.entries(DEVIATIONS)) {
      expect(promised.get(name)?.type).not.toBe(type);
      expect(`${type}!`).toBe(promised.get(name)?.type);
      expect(because).not.toBe('');
    }
  });

  it('has no name in the table of what is to come that is there already, or that nobody promised', () => {
    expect([...pendingNames].filter((name) => ours.has(name))).toEqual([]);
    expect([...pendingNames].filter((name) => !promised.has(name))).toEqual([]);
  });
});

describe('the printed schema', () => {
  it('describes every type, field, argument, input field and enum value', () => {
    const missing: string[] = [];
    const look = (name: string, node: { readonly description?: StringValueNode | undefined }) => {
      if ((node.description?.value ?? '').trim().length < 3) missing.push(name);
    };
    for (const node of parse(readFileSync(SCHEMA, 'utf8')).definitions) {
      if (!('name' in node) || node.name === undefined || !('description' in node)) continue;
      const type = node.name.value;
      look(type, node);
      if ('values' in node) for (const value of node.values ?? []) look(`${type}.${value.name.value}`, value);
      if ('fields' in node) {
        for (const field of (node.fields ?? []) as readonly (FieldDefinitionNode | InputValueDefinitionNode)[]) {
          look(`${type}.${field.name.value}`, field);
          if ('arguments' in field)
            for (const argument of field.arguments ?? []) look(`${type}.${field.name.value}(${argument.name.value})`, argument);
        }
      }
    }
    expect(missing).toEqual([]);
  });

  it('says why, wherever something is deprecated', () => {
    const reasons: string[] = [];
    const visit = (node: ASTNode): void => {
      if ('directives' in node) {
        for (const directive of node.directives ?? []) {
          if (directive.name.value === 'deprecated')
            reasons.push(directive.arguments?.map((argument) => print(argument.value)).join() ?? '');
        }
      }
      if ('fields' in node) for (const field of (node.fields ?? []) as readonly ASTNode[]) visit(field);
      if ('values' in node) for (const value of (node.values ?? []) as readonly ASTNode[]) visit(value);
    };
    for (const node of parse(readFileSync(SCHEMA, 'utf8')).definitions) visit(node);
    expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  });
});
