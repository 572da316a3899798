import { int32 } from '../resolvers/numbers.ts';
import * as resolve from '../resolvers/stores.ts';
import { builder } from './builder.ts';
import { Node, nodeId } from './node.ts';

export const StoreHealth = builder.enumType('StoreHealth', {
  description: 'What is wrong with a store as a whole.',
  values: {
    OK: { description: 'It can be read.' },
    EMPTY: { description: 'The file has no tables.' },
    NOT_FOUND: { description: 'There is no state.db.' },
    NOT_A_DATABASE: { description: 'The file is no SQLite database, or none of the Hermes Agent.' },
    SCHEMA_MALFORMED: { description: "SQLite can't read the schema; the rows may be intact." },
    CORRUPT: { description: 'Pages are damaged; what can be read is shown.' },
    BUSY: { description: 'Another program holds it locked.' },
    IO_ERROR: { description: 'The path, its permissions or the disk.' },
    REPLACED: { description: 'Another file lies there now and is being opened.' },
    WAL_GENERATION_LOST: { description: 'The -wal file was removed while a program writes.' },
  } as const,
});

const SearchIndex = builder.objectRef<NonNullable<resolve.StoreView['search']>>('SearchIndex').implement({
  description: 'The full-text indexes of a store.',
  fields: (t) => ({
    layout: t.exposeString('layout', { description: 'E, I, X1, X2, X3, or NONE.' }),
    trigram: t.exposeBoolean('trigram', { description: 'Substrings of three and more characters can be looked up.' }),
    cjk: t.exposeBoolean('cjk', { description: 'The index for Chinese, Japanese and Korean can be used.' }),
    indexPercent: t.exposeInt('indexPercent', { description: 'How much of the store is indexed, 0 to 100.' }),
  }),
});

export const Store = builder.objectRef<resolve.StoreView>('Store').implement({
  description: 'One state.db.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Where it lies on this machine.' }),
    health: t.field({ type: StoreHealth, description: 'By a real read, now.', resolve: (store) => store.health }),
    problem: t.exposeString('problem', { nullable: true, description: 'What is wrong and what to do, in a sentence; null when healthy.' }),
    schemaVersion: t.exposeInt('schemaVersion', { nullable: true, description: 'As stored; columns are detected, not derived from it.' }),
    journalMode: t.exposeString('journalMode', { nullable: true, description: 'wal or delete, as a rule.' }),
    sizeBytes: t.exposeFloat('sizeBytes', { nullable: true, description: 'Bytes of state.db, without its -wal.' }),
    walBytes: t.exposeFloat('walBytes', { nullable: true, description: 'Bytes of the write-ahead log; null when there is none.' }),
    sessionCount: t.int({ nullable: true, description: 'Stored sessions of every kind.', resolve: (store) => int32(store.sessionCount) }),
    messageCount: t.int({
      nullable: true,
      description: 'Message rows of any state, of sessions that exist.',
      resolve: (store) => int32(store.messageCount),
    }),
    searchDegraded: t.exposeBoolean('searchDegraded', {
      description: 'The word index is missing, stale, damaged or incomplete; search is slower or less complete.',
    }),
    search: t.field({
      type: SearchIndex,
      nullable: true,
      description: "Null when the store can't be read.",
      resolve: (store) => store.search,
    }),
    writable: t.exposeBoolean('writable', { description: 'This server may change the store.' }),
    missingColumns: t.exposeStringList('missingColumns', {
      description: 'Known columns that this store does not have; their defaults are shown.',
    }),
    unknownColumns: t.exposeStringList('unknownColumns', { description: 'Columns that this server does not know; they are ignored.' }),
  }),
});

export const Profile = builder.objectRef<resolve.Profile>('Profile').implement({
  description: 'A Hermes profile: a home with a store of its own.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Global id.', resolve: ({ name }) => nodeId('Profile', { profile: name }, '') }),
    name: t.exposeString('name', { description: '"default" for the root home.' }),
    isDefault: t.boolean({ description: 'Requests that name no profile mean this one.', resolve: resolve.isDefault }),
    store: t.field({ type: Store, description: 'Its state.db and how it is.', complexity: 10, resolve: resolve.storeOf }),
  }),
});

const ServerInfo = builder.objectRef<resolve.ServerInfo>('ServerInfo').implement({
  description: 'This server.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'Of Caduceus.' }),
    writable: t.exposeBoolean('writable', { description: 'Started with --allow-writes.' }),
    subscribers: t.exposeInt('subscribers', { description: 'Subscriptions that are open now.' }),
  }),
});

builder.queryFields((t) => ({
  profiles: t.field({
    type: [Profile],
    description: 'Every Hermes profile on this machine, the root home first.',
    resolve: resolve.profiles,
  }),
  profile: t.field({
    type: Profile,
    nullable: true,
    description: 'A profile by its name, or the default one; null for an unknown name.',
    args: { name: t.arg.string({ description: 'Default: the profile that this server was started for.' }) },
    resolve: resolve.profile,
  }),
  server: t.field({ type: ServerInfo, description: 'About this server.', resolve: resolve.server }),
}));
