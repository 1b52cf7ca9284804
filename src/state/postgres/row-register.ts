import type { Register } from '../store/register.ts'
import type { Database } from './database.ts'

/** Creates a register in a row of the files, changed without the lock; its version is its text. */
export function createRowRegister(database: Database, path: string): Register {
  const table = `${database.schema}.files`
  const find = `select text from ${table} where path = $1`
  return {
    location: `${path} of ${database.location}`,
    read: () =>
      database.transact(async (sql) => {
        const [row] = await sql(find, [path])
        const text = row === undefined ? null : String(row['text'])
        return { version: text, text }
      }),
    // A change whose answer was lost is made again: the effect must be the same.
    compareAndSwap: (version, text) =>
      database.transact(async (sql) => {
        if (text === null) {
          await sql(`delete from ${table} where path = $1 and text = $2`, [path, version])
          return (await sql(find, [path])).length === 0 ? 'none' : null
        }
        const rows = await sql(
          `insert into ${table} as old (path, text)
           select $1, $2 where $3::text is null or exists (${find})
           on conflict (path) do update set text = $2 where old.text in ($2, $3) returning path`,
          [path, text, version],
        )
        return rows.length > 0 ? text : null
      }),
  }
}
