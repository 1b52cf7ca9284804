import { randomUUID } from 'node:crypto'
import type { DatabaseConfig } from '../../core/model/config.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import type { Connection, ConnectionPool, Database, Sql } from './database.ts'
import { ensureTables } from './tables.ts'

/** How long a lost connection is tried again where nothing else is set, ms. */
const defaultPatienceMs = 30_000
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
  scrub?: SecretHider['scrub']
  /** Creates a globally unique id; absent: a random one. */
  newId?(): string
  /** Creates the connections; absent: over this machine's network. */
  createPool?(config: DatabaseConfig): ConnectionPool
  /** How long a lost connection is tried again, ms; absent: 30 s. */
  patienceMs?: number | undefined
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
  let ensured: Promise<void> | null = null
  const run = async <T>(start: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
    pool ??= createPool(config, context)
    const client = await (await pool).connect()
    return runTransaction(client, start, work)
  }
  const runAgain = <T>(work: (sql: Sql) => Promise<T>, start = begin) =>
    retry(() => run(start, work), context, location)
  const runEnsured = async <T>(work: (sql: Sql) => Promise<T>, start?: string) => {
    ensured ??= runAgain((sql) => ensureTables(sql, config.schema, location))
    try {
      await ensured
    } catch (error) {
      ensured = null
      throw error
    }
    return runAgain(work, start)
  }
  return {
    location,
    schema,
    newId: () => context.newId?.() ?? randomUUID(),
    transact: (work) => runEnsured(work),
    read: (work) => runEnsured(work, beginReading),
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
  { clock, signal, scrub, patienceMs = defaultPatienceMs }: DatabaseContext,
  location: string,
): Promise<T> {
  const start = clock.monotonic()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || error instanceof EdgewiseError) throw error
      const isLate = clock.monotonic() - start >= patienceMs || signal.aborted
      const mayRepeat = isConnectionLost(error) || isRepeatable(error)
      if (!mayRepeat || isLate) {
        error.message = scrub?.(markForeign(error.message)) ?? error.message
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

/** Codes of the operating system and of Node for a connection that was lost or not made. */
const systemCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]

/** Beginnings of messages of the client, which have no code. */
const clientMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
]

/**
 * Tests whether the connection was lost or not made: class 08 of SQLSTATE, a server that shuts
 * down or starts (57P01 to 57P03), has no connection left (53300), or ended one that was idle
 * (25P03, 57P05).
 */
function isConnectionLost(error: Error): boolean {
  const code = getCode(error)
  return (
    systemCodes.includes(code) ||
    /^(?:08\w{3}|57P0[1235]|53300|25P03)$/.test(code) ||
    clientMessages.some((text) => error.message.startsWith(text))
  )
}

/** Tests whether a transaction lost against others: a serialization failure, or a deadlock. */
function isRepeatable(error: Error): boolean {
  return ['40001', '40P01', '55P03'].includes(getCode(error))
}

/** Explains a failure of a database to the user. */
function explainFailure(error: Error, location: string): EdgewiseError {
  const code = getCode(error)
  const known = explanations.find(([pattern]) => pattern.test(code))
  // An attempt at several addresses has a code, and no message.
  const [, what, hint] = known ?? [null, error.message || code, unknownHint]
  return new EdgewiseError('record-unreachable', `the state in ${location}: ${what}`, hint)
}

const unknownHint = 'Check that the database runs and can be reached, then run the command again.'

const explanations: [RegExp, string, string][] = [
  [
    /^28/,
    'the database refused the user or the password',
    'Correct the address in the environment variable that state.url names.',
  ],
  [
    /^3D000$/,
    'there is no such database',
    'Create it ("createdb NAME"), or correct the address that state.url names.',
  ],
  [
    /^42501$/,
    'the user may not write there, or not read',
    'Grant the rights that docs/guides/many-repositories.md lists. A plan needs to read only.',
  ],
  [
    /^25006$/,
    'the database can only be read',
    'Use the address of its primary server, or a user without default_transaction_read_only.',
  ],
  [
    /^42P01$/,
    'a table is missing',
    'Restore the schema from a back-up. Edgewise creates tables in an empty schema only.',
  ],
  [/^53100$/, 'the disk of the database is full', 'Free some space, then run the command again.'],
]

function getCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Waits for work that may fail to reach the database: what it leaves behind expires. */
export async function ignoreUnreachable(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'record-unreachable') throw error
  }
}
