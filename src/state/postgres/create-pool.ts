import pg from 'pg'
import type { DatabaseConfig } from '../../model/config.ts'

/** Maximum time of connecting, ms. */
const connectMs = 10_000
/** Maximum time of a statement, ms. */
const statementMs = 60_000

/** Creates up to `max` connections to a database; they are made on demand. */
export function createPool({ url }: DatabaseConfig, max = 4): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'edgewise',
    max,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    keepAlive: true,
    // An idle connection does not keep the process alive.
    allowExitOnIdle: true,
  })
  // The next statement or transaction reports the loss of a connection. It may be lost as soon as
  // it is made, before anything else can listen.
  pool.on('connect', (client) => void client.on('error', () => undefined))
  pool.on('error', () => undefined)
  return pool
}
