import { createHash } from 'node:crypto'
import type { Row } from '../../../src/state/postgres/database.ts'
import { callStatements } from './call-statements.ts'
import { catalogue, compareBytes, type Transaction } from './engine.ts'
import { leaderStatements } from './leader-statements.ts'
import { lockStatements } from './lock-statements.ts'
import { outboxStatements } from './outbox-statements.ts'
import type { Statement } from './statement.ts'

/**
 * What each statement of src/state/postgres does, by its text without line breaks and the name of
 * the schema. A changed text must be changed here, too: the simulation knows no other statement.
 */
const statements: Record<string, Statement> = {
  // src/state/postgres/tables.ts
  "select from pg_tables where schemaname = $1 and tablename = 'version'": (transaction) =>
    transaction.get(catalogue, 'version') === undefined ? [] : [{}],
  [`select version, files <> pg_class.oid as restored from version
    left join (pg_class join pg_namespace on relnamespace = pg_namespace.oid)
      on nspname = $1 and relname = 'files'`]: (transaction) =>
    transaction.rows('version').map(([, row]) => ({ ...row, restored: false })),
  'delete from files where path = $1 returning text': async (transaction, [path]) => {
    const row = await transaction.lockRow('files', String(path), 'exclusive')
    if (row !== undefined) transaction.put('files', String(path), null)
    return row === undefined ? [] : [row]
  },
  'select pg_advisory_xact_lock($1)': async (transaction, [number]) => {
    await transaction.lock(`advisory ${String(number)}`, 'exclusive')
    return [{ pg_advisory_xact_lock: '' }]
  },
  'select from pg_namespace where nspname = $1': (transaction) =>
    transaction.rows(catalogue).length > 0 ? [{}] : [],
  "insert into version values (1, 'files'::regclass)": async (transaction) => {
    await transaction.insert('version', '', { version: 1 })
    return []
  },

  // src/state/postgres/open-postgres-store.ts
  'select session_user as name': () => [{ name: 'edgewise' }],

  // src/state/postgres/postgres-files.ts
  'select path from files where path > $1 and path < $2 order by path': (transaction, values) =>
    findFiles(transaction, values).map(([path]) => ({ path })),
  [`select path, text from files, unnest($1::text[]) as place
    where path >= place and path < place || '0' and (path = place or path > place || '/')
    order by path`]: (transaction, [places]) =>
    (places as string[])
      .flatMap((place) => [
        ...transaction.rows('files', (path) => path === place),
        ...findFiles(transaction, [`${place}/`, `${place}0`]),
      ])
      .toSorted(([one], [two]) => compareBytes(one, two))
      .map(([path, row]) => ({ path, ...row })),
  'select text from files where path = $1': (transaction, [path]) => {
    const row = transaction.get('files', String(path))
    return row === undefined ? [] : [row]
  },
  'select path, text from files where path > $2 and path < $3 and strpos(text, $1) > 0': (
    transaction,
    [domain, ...folder],
  ) =>
    findFiles(transaction, folder)
      .filter(([, row]) => String(row['text']).includes(String(domain)))
      .map(([path, row]) => ({ path, ...row })),
  'lock table guards in exclusive mode': async (transaction) => {
    await transaction.lock('guards', 'exclusive')
    return []
  },
  [`delete from files using unnest($1::text[]) as gone
    where path = gone or (path > gone || '/' and path < gone || '0')`]: async (
    transaction,
    [gone],
  ) => {
    const isGone = (path: string) =>
      (gone as string[]).some((each) => path === each || path.startsWith(`${each}/`))
    for (const [path] of transaction.rows('files', isGone))
      if ((await transaction.lockRow('files', path, 'exclusive')) !== undefined)
        transaction.put('files', path, null)
    return []
  },
  [`insert into files (path, text) select * from unnest($1::text[], $2::text[])
    on conflict (path) do update set text = excluded.text`]: async (
    transaction,
    [paths, texts],
  ) => {
    for (const [i, path] of (paths as string[]).entries()) {
      const row = { text: (texts as string[])[i] }
      if (await transaction.insert('files', path, row)) continue
      await transaction.lock(`files ${path}`, 'exclusive')
      transaction.put('files', path, row)
    }
    return []
  },
  [`select md5(string_agg(path || md5(text), '' order by path)) as hash from files
    where path > $1 and path < $2`]: (transaction, [from, to]) => {
    const rows = transaction.rows('files', (path) => path > String(from) && path < String(to))
    const texts = rows.map(([path, { text }]) => path + hashText(String(text))).toSorted()
    return [{ hash: texts.length === 0 ? null : hashText(texts.join('')) }]
  },
  'delete from files where path = $1 and text = $2': async (transaction, [path, text]) => {
    const row = await transaction.lockRow('files', String(path), 'exclusive')
    if (row !== undefined && row['text'] === text) transaction.put('files', String(path), null)
    return []
  },
  [`insert into files as old (path, text)
    select $1, $2 where $3::text is null
      or exists (select text from files where path = $1)
    on conflict (path) do update set text = $2 where old.text in ($2, $3) returning path`]: async (
    transaction,
    [path, text, version],
  ) => {
    const name = String(path)
    const row = transaction.rows('files', (each) => each === name)[0]
    if (version !== null && row === undefined) return []
    if (row === undefined && (await transaction.insert('files', name, { text }))) return [{ path }]
    const old = await transaction.lockRow('files', name, 'exclusive')
    if (old === undefined || (old['text'] !== text && old['text'] !== version)) return []
    transaction.put('files', name, { text })
    return [{ path }]
  },
  [`with recursive folders as (
      select (select split_part(min(path), '/', 1) from files) as folder union all
      select (select split_part(min(path), '/', 1) from files
              where path > folders.folder || '0' collate "C")
      from folders where folders.folder is not null )
    select folder from folders where folder is not null`]: (transaction) => {
    const paths = transaction.rows('files').map(([path]) => path)
    return [...new Set(paths.map((path) => path.split('/', 1)[0]))].map((folder) => ({ folder }))
  },
  ...lockStatements,
  ...callStatements,
  ...leaderStatements,
  ...outboxStatements,
}

const known = new Map(Object.entries(statements).map(([text, run]) => [normalize(text), run]))
/** Statements by their texts as they were sent. */
const found = new Map<string, Statement>()

/**
 * Finds what a statement does.
 *
 * @throws TypeError for a statement that the simulation does not know
 */
export function findStatement(text: string): Statement {
  const statement = found.get(text) ?? known.get(normalize(text)) ?? parseDefinition(text)
  if (statement === null)
    throw new TypeError(`expected a statement of test/simulation/sql/statements.ts, got ${text}`)
  found.set(text, statement)
  return statement
}

/**
 * Understands the creation and the removal of tables. Views are never read.
 */
function parseDefinition(text: string): Statement | null {
  if (/^create (?:schema|view) /.test(text)) return () => []
  const [, verb, table] = /^(create|drop) table (\w+)/.exec(normalize(text)) ?? []
  if (table === undefined) return null
  return async (transaction) => {
    await transaction.lock(`${catalogue} ${table}`, 'exclusive')
    transaction.put(catalogue, table, verb === 'create' ? {} : null)
    return []
  }
}

function hashText(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** Removes line breaks and the name of the schema. */
function normalize(text: string): string {
  return text.replaceAll(/"\w+"\./g, '').replaceAll(/\s+/g, ' ')
}

function findFiles(transaction: Transaction, [from, to]: unknown[]): [string, Row][] {
  const [first, end] = [String(from), String(to)]
  return transaction.rows(
    'files',
    (path) => compareBytes(path, first) > 0 && compareBytes(path, end) < 0,
  )
}
