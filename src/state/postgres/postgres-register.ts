import { randomUUID } from 'node:crypto'
import type { FoundLock } from '../lock-loss.ts'
import type { Register } from '../register.ts'
import type { Database, Sql } from './database.ts'

/** A lock in a row of a table. */
export interface PostgresRegister extends Register {
  /**
   * Finds what the lock is now, in a transaction in which it does not change any more, and whether
   * this process was the last one to change it. Null if this process never tried to.
   */
  findHeld(sql: Sql): Promise<(FoundLock & { isHeld: boolean }) | null>
}

/** Creates a register in the row of a path. */
export function createPostgresRegister(database: Database, path: string): PostgresRegister {
  const table = `${database.schema}.registers`
  /** Begins each change of this process. */
  const process = `${randomUUID()} `
  let changes = 0
  return {
    location: `${database.location}, ${path}`,
    read: () =>
      database.transact(async (sql) => {
        const [row] = await sql(`select version, text from ${table} where path = $1`, [path])
        return { version: readVersion(row?.['version']), text: readText(row?.['text']) }
      }),
    compareAndSwap: (version, text) => {
      const next = Number(version ?? 0) + 1
      // Tells a change whose answer was lost from one of another process.
      const change = `${process}${++changes}`
      return database.transact(async (sql) => {
        await sql(`insert into ${table} (path) values ($1) on conflict do nothing`, [path])
        const [row] = await sql(
          `update ${table} set version = $2, text = $3, change = $4
           where path = $1 and (version = $2 - 1 or change = $4) returning version`,
          [path, next, text, change],
        )
        return row === undefined ? null : String(next)
      })
    },
    findHeld: async (sql) => {
      if (changes === 0) return null
      const [row] = await sql(
        `select version, text, change from ${table} where path = $1 for share`,
        [path],
      )
      return {
        version: readVersion(row?.['version']),
        text: readText(row?.['text']),
        isHeld: readText(row?.['change'])?.startsWith(process) === true,
      }
    },
  }
}

/** A row that was only inserted has version 0: no text was ever stored. */
function readVersion(value: unknown): string | null {
  const version = String(value ?? 0)
  return version === '0' ? null : version
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
