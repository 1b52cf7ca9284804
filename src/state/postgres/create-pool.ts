import pg from 'pg'
import { loadText } from '../../files/load-bounded.ts'
import type { DatabaseConfig } from '../../core/model/config.ts'

/** Maximum time of connecting, ms. */
const connectMs = 10_000
/** Maximum time of a statement where nothing else is set, ms. */
const defaultStatementMs = 60_000

/** Parameters of an address with the path of a file, which the client reads to its end. */
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey']
/** Maximum size of such a file, bytes. */
const maxFileBytes = 1024 * 1024

/**
 * Creates up to `max` connections to a database; they are made on demand.
 *
 * @throws Error for a certificate or key that is no regular file, or too large
 */
export function createPool(
  { url }: DatabaseConfig,
  max = 4,
  statementMs = defaultStatementMs,
): pg.Pool {
  for (const [name, path] of new URL(url).searchParams)
    if (path !== '' && fileParameters.includes(name)) loadText(path, maxFileBytes)
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'edgewise',
    max,
    connectionTimeoutMillis: Math.min(connectMs, statementMs),
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
