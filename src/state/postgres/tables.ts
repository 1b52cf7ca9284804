import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Sql } from './database.ts'

/** Version of the tables. */
const tablesVersion = 1

/** Builds the statements that create the tables. */
function createTables(schema: string): string[] {
  return [
    // Sorted by bytes, so that the paths of a folder are one range of the index.
    `create table ${schema}.files (path text collate "C" primary key, text text not null)`,
    // A restored table has another object id than the one that it had.
    `create table ${schema}.version (version integer not null, files oid not null)`,
    `insert into ${schema}.version values (${tablesVersion}, '${schema}.files'::regclass)`,
    // Has no rows: a transaction that checks what others have locks it.
    `create table ${schema}.guards ()`,
    // Its numbers are fencing numbers, and the order of the queue.
    `create table ${schema}.locks (
       ticket bigint generated always as identity primary key, account text not null,
       workspace text, domains text[], token text not null unique,
       held boolean not null default false, seen_at timestamptz not null default clock_timestamp(),
       version bigint not null default 1, text text not null, change text)`,
    // One row for each process that calls the service, and waits to; times by the database's clock.
    `create table ${schema}.calls (
       account text not null, owner text not null, change text not null default '',
       ended timestamptz[] not null default '{}', counts integer[] not null default '{}',
       wanted integer not null default 0, wanted_from timestamptz not null default 'epoch',
       wanted_until timestamptz not null default 'epoch', primary key (account, owner))`,
    // For each workspace with a controller its leader, whose fencing number is the number; also the
    // last fetch of its replicas, and the last hand-over between them.
    `create table ${schema}.leaders (
       workspace text collate "C" primary key, number bigint not null default 0,
       token text, seen_at timestamptz not null default 'epoch', process text not null default '{}',
       wakes bigint not null default 0)`,
    ...createOutbox(schema),
    ...createViews(schema),
  ]
}

/**
 * Builds the tables of notifications that wait for their receivers, of applies that have begun and
 * not reported yet, and of the drift that was reported last.
 */
function createOutbox(schema: string): string[] {
  const now = 'timestamptz not null default clock_timestamp()'
  return [
    `create table ${schema}.outbox (
       number bigint generated always as identity primary key, workspace text not null,
       address text not null, id text not null, receiver text not null, text text not null,
       created ${now}, due ${now}, attempts integer not null default 0, failure text,
       given_up timestamptz, claim text, claimed_until timestamptz, unique (id, receiver))`,
    `create table ${schema}.outbox_begun (
       token text primary key, workspace text not null, address text not null,
       holder text not null, begun ${now}, seen_at ${now})`,
    `create table ${schema}.outbox_drift (
       workspace text, address text, scope text, hash text not null, items integer not null,
       domains integer not null, primary key (workspace, address, scope))`,
  ]
}

/** Builds views of the files for people who look at the state with SQL; the program uses none. */
function createViews(schema: string): string[] {
  const place = `split_part(path, '/', 1) as workspace, split_part(path, '/', 2) as address`
  const from = (folder: string) => `${schema}.files where split_part(path, '/', 3) = '${folder}'`
  return [
    `create view ${schema}.items as
       select workspace, address, file ->> 'domain' as domain, item.key as item,
         item.value ->> 'status' as status, item.value -> 'candidates' as candidates,
         (item.value ->> 'at')::timestamptz as at, item.value ->> 'apply' as apply
       from (select ${place}, text::jsonb as file from ${from('domains')}) as files,
         jsonb_each(file -> 'items') as item`,
    `create view ${schema}.applies as
       select workspace, address, file ->> 'id' as apply, file ->> 'outcome' as outcome,
         (file ->> 'startedAt')::timestamptz as started_at,
         (file ->> 'endedAt')::timestamptz as ended_at,
         file ->> 'author' as author, file ->> 'commit' as "commit", file -> 'writes' as writes
       from (select ${place}, text::jsonb as file from ${from('journal')}) as files`,
    `create view ${schema}.intents as
       select workspace, address, apply, write.key::integer as write, domain.key as domain,
         item.key as item, file #> array['before', domain.key, item.key, 'candidates'] as before,
         item.value -> 'candidates' as candidates
       from (select ${place}, split_part(path, '/', 4) as apply, text::jsonb as file
             from ${from('batches')}) as files,
         jsonb_each(file -> 'intents') as write, jsonb_each(write.value) as domain,
         jsonb_each(domain.value) as item`,
  ]
}

/** Number of advisory lock: two processes don't create the tables at the same time. */
const creating = 7_333_473

/**
 * Creates the tables if there are none, within a transaction.
 *
 * @param name of the schema
 * @throws EdgewiseError `record-damaged` if another program has changed them, `state-rewound` if
 *   they were restored
 */
export async function ensureTables(sql: Sql, name: string, location: string): Promise<void> {
  if (await hasTables(sql, name, location)) return
  await sql('select pg_advisory_xact_lock($1)', [creating])
  if (await hasTables(sql, name, location)) return
  // "if not exists" needs the right to create schemas, also where there is one.
  const found = await sql('select from pg_namespace where nspname = $1', [name])
  const schema = `"${name}"`
  if (found.length === 0) await sql(`create schema ${schema}`)
  for (const statement of createTables(schema)) await sql(statement)
}

/** Tests whether there are tables, which this program can use. */
async function hasTables(sql: Sql, name: string, location: string): Promise<boolean> {
  // Unlike to_regclass, this sees what others have created since the transaction began.
  const found = await sql(`select from pg_tables where schemaname = $1 and tablename = 'version'`, [
    name,
  ])
  if (found.length === 0) return false
  const [row] = await sql(
    `select version, files <> pg_class.oid as restored
     from "${name}".version
     left join (pg_class join pg_namespace on relnamespace = pg_namespace.oid)
       on nspname = $1 and relname = 'files'`,
    [name],
  )
  if (row?.['restored'] === true) throw createRestoredError(name, location)
  if (Number(row?.['version']) === tablesVersion) return true
  throw new EdgewiseError(
    'record-damaged',
    `the tables in ${location} have version ${String(row?.['version'])}; expected ` +
      `${tablesVersion}`,
    'Use the version of edgewise that created them.',
  )
}

function createRestoredError(name: string, location: string): EdgewiseError {
  return new EdgewiseError(
    'state-rewound',
    `the tables in ${location} were restored: their state may be older than what was written since`,
    [
      'If there is a newer back-up, restore that one. To accept this state, run this in the ' +
        'database, then compare it with the service (docs/guides/many-repositories.md, "Back-up"):',
      `  update "${name}".version set files = '"${name}".files'::regclass;`,
    ].join('\n'),
  )
}
