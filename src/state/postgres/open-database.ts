import { randomUUID } from 'node:crypto'
import type { DatabaseConfig } from '../../model/config.ts'
import type { Clock } from '../../model/clock.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Connection, ConnectionPool, Database, Sql } from './database.ts'
import { explainFailure, isConnectionLost, isRepeatable } from './database-failures.ts'
import { migrate } from './migrations.ts'

/** How long a lost connection is tried again, ms. */
const retryMs = 30_000
const pauseMs = 500
/**
 * A guard must see what others wrote before it, whatever the default of the database is. A process
 * that is suspended within a transaction blocks others for less than the lease of a lock. What is
 * committed must be durable.
 */
const begin = `begin isolation level read committed;
  set local idle_in_transaction_session_timeout = '30s';
  select set_config('synchronous_commit', 'on', true)
  where current_setting('synchronous_commit') in ('off', 'local')`

/** Reading one moment is no transaction of others to wait for, so that it may take its time. */
const beginReading = 'begin isolation level repeatable read read only'

/** What opening a database needs of the outside. */
export interface DatabaseContext {
  clock: Pick<Clock, 'monotonic' | 'sleep'>
  signal: AbortSignal
  /** Removes secrets from a message of the server or the client. */
  scrub?(text: string): string
  /** Creates a globally unique id; absent: a random one. */
  newId?(): string
  /** Creates the connections; absent: over this machine's network. */
  createPool?(config: DatabaseConfig): ConnectionPool
}

/**
 * Opens a database; the client is loaded, and the first connection made, by the first transaction.
 * A transaction uses one connection from begin to commit and nothing that outlives it, so that a
 * pooler of transactions may be in between.
 */
export function openDatabase(config: DatabaseConfig, context: DatabaseContext): Database {
  const schema = `"${config.schema}"`
  const location = `${describeAddress(config.url)}, schema ${config.schema}`
  let pool: Promise<ConnectionPool> | null = null
  let migrated: Promise<void> | null = null
  const run = async <T>(start: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
    pool ??= createPool(config, context)
    const client = await (await pool).connect()
    return runTransaction(client, start, work)
  }
  const runAgain = <T>(work: (sql: Sql) => Promise<T>, start = begin) =>
    retry(() => run(start, work), context, location)
  const runMigrated = async <T>(work: (sql: Sql) => Promise<T>, start?: string) => {
    migrated ??= runAgain((sql) => migrate(sql, config.schema, location))
    try {
      await migrated
    } catch (error) {
      migrated = null
      throw error
    }
    return runAgain(work, start)
  }
  return {
    location,
    schema,
    newId: () => context.newId?.() ?? randomUUID(),
    transact: (work) => runMigrated(work),
    read: (work) => runMigrated(work, beginReading),
  }
}

async function createPool(
  config: DatabaseConfig,
  context: DatabaseContext,
): Promise<ConnectionPool> {
  if (context.createPool !== undefined) return context.createPool(config)
  return (await import('./create-pool.ts')).createPool(config)
}

/** Runs a transaction; one that fails ends with its connection. */
async function runTransaction<T>(
  client: Connection,
  start: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  let isDone = false
  try {
    await client.query(start)
    const result = await work(
      async (statement, values) => (await client.query(statement, values)).rows,
    )
    await client.query('commit')
    isDone = true
    return result
  } finally {
    client.release(!isDone)
  }
}

/** Repeats work after failures that another attempt may not have. */
async function retry<T>(
  work: () => Promise<T>,
  { clock, signal, scrub }: DatabaseContext,
  location: string,
): Promise<T> {
  const start = clock.monotonic()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || error instanceof EdgewiseError) throw error
      const isLate = clock.monotonic() - start >= retryMs || signal.aborted
      const mayRepeat = isConnectionLost(error) || isRepeatable(error)
      if (!mayRepeat || isLate) {
        error.message = scrub?.(error.message) ?? error.message
        throw explainFailure(error, location)
      }
    }
    await clock.sleep(pauseMs, signal)
  }
}

/** Describes the address of a database without user, password and parameters. */
function describeAddress(url: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}
