import type { StateConfig } from '../model/config.ts'

/** What must stay hidden of a database. */
export interface DatabaseSecrets {
  /** Names of the variables that may hold its address or its password. */
  variables: string[]
  /** Its passwords: as written in the address, and decoded. */
  passwords: string[]
}

/** Variable of PostgreSQL with the password of an address that has none. */
export const passwordVariable = 'PGPASSWORD'

/** Lists what must stay hidden of the database with the state; nothing with another store. */
export function listDatabaseSecrets(
  { database, variables = [] }: StateConfig,
  env: Record<string, string | undefined>,
): DatabaseSecrets {
  const written = database === undefined ? '' : new URL(database.url).password
  const outer = variables.includes(passwordVariable) ? (env[passwordVariable] ?? '') : ''
  const passwords = new Set([written, decodeURIComponent(written), outer])
  passwords.delete('')
  return { variables, passwords: [...passwords] }
}
