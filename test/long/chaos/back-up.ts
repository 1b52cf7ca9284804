import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '../../../src/state/postgres/open-database.ts'
import type { CrashingServer } from '../../postgres-server.ts'

/** Tables of a schema at one instant: their rows as JSON. */
export type BackUp = Map<string, string>

/** Copies the rows of all tables of a schema at one instant, as `pg_dump` does. */
export function backUp(server: CrashingServer, schema: string): Promise<BackUp> {
  return transact(server, 'repeatable read', async (client) => {
    const tables = await client.query<{ name: string }>(
      'select tablename as name from pg_tables where schemaname = $1',
      [schema],
    )
    const copy: BackUp = new Map()
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ all: string }>(
        `select coalesce(json_agg(each), '[]')::text as all from "${schema}".${name} as each`,
      )
      copy.set(name, rows[0]?.all ?? '[]')
    }
    return copy
  })
}

/** Replaces a schema by one with new tables that have the rows of a copy. */
export async function restore(server: CrashingServer, schema: string, copy: BackUp): Promise<void> {
  await transact(server, 'read committed', (client) =>
    client.query(`drop schema "${schema}" cascade`),
  )
  const clock = { monotonic: () => performance.now(), sleep: (ms: number) => sleep(ms) }
  const { signal } = new AbortController()
  const database = openDatabase({ url: findUrl(server), schema }, { clock, signal })
  await database.transact(async () => undefined)
  await transact(server, 'read committed', async (client) => {
    for (const [name, rows] of copy) {
      const table = `"${schema}".${name}`
      await client.query(`delete from ${table}`)
      await client.query(
        `insert into ${table} overriding system value
         select * from json_populate_recordset(null::${table}, $1)`,
        [rows],
      )
    }
    await client.query(
      `select setval(pg_get_serial_sequence('"${schema}".locks', 'ticket'), max(ticket) + 1)
       from "${schema}".locks`,
    )
  })
}

/** Finds the address of a server. */
export function findUrl({ served }: CrashingServer): string {
  if ('failure' in served) throw new Error(served.failure)
  return served.url
}

async function transact<T>(
  server: CrashingServer,
  isolation: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: findUrl(server) })
  await client.connect()
  try {
    await client.query(`begin isolation level ${isolation}`)
    const result = await work(client)
    await client.query('commit')
    return result
  } finally {
    await client.end()
  }
}
