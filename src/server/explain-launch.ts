import type { DatabaseConfig } from '../model/config.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { explainFailure } from '../state/postgres/database-failures.ts'

/**
 * Explains why the engine could not begin. It wraps the error of the database, and needs a right
 * that the state does not need.
 *
 * @param own schema of the engine
 */
export function explainLaunch(
  error: Error,
  { url }: Pick<DatabaseConfig, 'url'>,
  own: string,
): EdgewiseError {
  const cause = 'error' in error && error.error instanceof Error ? error.error : error
  const location = `schema ${own}`
  if (!('code' in cause) || cause.code !== '42501') return explainFailure(cause, location)
  const { pathname, username } = new URL(url)
  const name = quote(pathname.slice(1)) || 'DATABASE'
  const user = quote(username) || 'USER'
  return new EdgewiseError(
    'record-unreachable',
    `the user may not create or change ${location}, which serve needs beside the state: ` +
      cause.message,
    `Run "grant create on database ${name} to ${user}" as an administrator, and begin again.`,
  )
}

/** Quotes a part of an address as a name in SQL, if it needs that. */
function quote(text: string): string {
  const name = decodeURIComponent(text)
  return /^([a-z_][a-z0-9_]*)?$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
