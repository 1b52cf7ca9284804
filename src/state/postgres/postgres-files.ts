import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { noLocalChanges, type SharedFiles, type StateFiles } from '../store/state-files.ts'
import type { Database, Sql } from './database.ts'
import type { PostgresLocks } from './postgres-locks.ts'
import { explainLockLoss, type FoundLock } from '../format/lock-file.ts'

/**
 * Creates the state files of a database: rows with a path and a text. Each change is one
 * transaction, in which this process must still hold the lock if it has acquired it.
 *
 * @param locks nothing is written after this process has lost its lock: others may have written
 *   since
 */
export function createPostgresFiles(
  database: Database,
  locks: Pick<PostgresLocks, 'location' | 'findHeld'>,
): StateFiles {
  const queue = createSerialQueue()
  const table = `${database.schema}.files`
  const shareAs = (read: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>): SharedFiles => ({
    describePath: (path) => `${path} of ${database.location}`,
    listTopFolders: () => read((sql) => listTopFolders(sql, table)),
    listPaths: (folder) => read((sql) => listPaths(sql, table, folder)),
    load: (...paths) => read((sql) => findFiles(sql, table, paths)),
  })
  const write = (steps: FileChanges[], guard?: (files: SharedFiles) => Promise<void>) =>
    queue(() =>
      database.transact(async (sql) => {
        const held = await locks.findHeld(sql)
        if (held?.isHeld === false) throw createLockLostError(held, locks.location)
        if (guard !== undefined) {
          // Of two processes with the locks of two accounts, the second one sees the first one's.
          await sql(`lock table ${database.schema}.guards in exclusive mode`)
          await guard(shareAs((work) => work(sql)))
        }
        await change(sql, table, new Map(steps.flatMap((step) => [...step])))
      }),
    )
  const loadText = (path: string) =>
    database.transact(async (sql) => {
      const [row] = await sql(`select text from ${table} where path = $1`, [path])
      return row === undefined ? null : String(row['text'])
    })
  return {
    ...shareAs((work) => database.transact(work)),
    readAtOnce: (work) => database.read((sql) => work(shareAs((read) => read(sql)))),
    hashFolder: (folder) => database.transact((sql) => hashFolder(sql, table, folder)),
    location: database.location,
    refresh: () => undefined,
    ...noLocalChanges,
    write: (steps) => write(steps),
    record: (steps) => write(steps),
    publish: (steps, _message, guard) => write(steps, guard),
    saveLocally: (path, text) => write([new Map([[path, text]])]),
    loadLocalAndShared: async (path) => {
      const text = await loadText(path)
      return { here: text, shared: text }
    },
    add: (path, text) => database.transact((sql) => change(sql, table, new Map([[path, text]]))),
    loadNaming: (folder, domain) =>
      database.transact((sql) => findNaming(sql, table, folder, domain)),
    share: null,
  }
}

async function change(sql: Sql, table: string, files: FileChanges): Promise<void> {
  const removed = [...files].flatMap(([path, text]) => (text === null ? [path] : []))
  const kept = [...files].filter((file): file is [string, string] => file[1] !== null)
  if (removed.length > 0)
    await sql(
      `delete from ${table} using unnest($1::text[]) as gone
       where path = gone or (path > gone || '/' and path < gone || '0')`,
      [removed],
    )
  if (kept.length > 0)
    await sql(
      `insert into ${table} (path, text) select * from unnest($1::text[], $2::text[])
       on conflict (path) do update set text = excluded.text`,
      [kept.map(([path]) => path), kept.map(([, text]) => text)],
    )
}

async function listPaths(sql: Sql, table: string, folder: string): Promise<string[]> {
  // "0" follows "/", and the column is sorted by bytes.
  const rows = await sql(`select path from ${table} where path > $1 and path < $2 order by path`, [
    `${folder}/`,
    `${folder}0`,
  ])
  return rows.map((row) => String(row['path']))
}

async function hashFolder(sql: Sql, table: string, folder: string): Promise<string> {
  const [row] = await sql(
    `select md5(string_agg(path || md5(text), '' order by path)) as hash from ${table}
     where path > $1 and path < $2`,
    [`${folder}/`, `${folder}0`],
  )
  return String(row?.['hash'])
}

/** Finds some files, and those in some folders. */
async function findFiles(sql: Sql, table: string, paths: string[]): Promise<Map<string, string>> {
  const rows = await sql(
    `select path, text from ${table}, unnest($1::text[]) as place
     where path >= place and path < place || '0' and (path = place or path > place || '/')
     order by path`,
    [paths],
  )
  return toTexts(rows)
}

function toTexts(rows: Awaited<ReturnType<Sql>>): Map<string, string> {
  return new Map(rows.map((row) => [String(row['path']), String(row['text'])]))
}

/** Finds the files in a folder that name a domain. */
async function findNaming(
  sql: Sql,
  table: string,
  folder: string,
  domain: Domain,
): Promise<Map<string, string>> {
  const rows = await sql(
    `select path, text from ${table} where path > $2 and path < $3 and strpos(text, $1) > 0`,
    [JSON.stringify(domain), `${folder}/`, `${folder}0`],
  )
  return toTexts(rows)
}

/** Lists the folders at the top: each step finds the next one in the index. */
async function listTopFolders(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql(
    `with recursive folders as (
       select (select split_part(min(path), '/', 1) from ${table}) as folder
       union all
       select (select split_part(min(path), '/', 1) from ${table}
               where path > folders.folder || '0' collate "C") from folders
       where folders.folder is not null
     )
     select folder from folders where folder is not null`,
  )
  return rows.map((row) => String(row['folder']))
}

function createLockLostError(lock: FoundLock, location: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the state can't be written: ${explainLockLoss(lock, location)}`,
    'Run the same command again when no other command changes the state.',
  )
}
