import type { ConnectionPool } from './database.ts'

/**
 * Makes each transaction one that only reads; the database refuses a write in it.
 *
 * @param refuse creates the error of an attempt of another kind than those known
 */
export function restrictPool(
  create: () => Promise<ConnectionPool>,
  refuse: (what: string) => Error,
): ConnectionPool {
  let pool: Promise<ConnectionPool> | undefined
  return {
    connect: async () => {
      pool ??= create()
      const connection = await (await pool).connect()
      return {
        query: async (statement, values) =>
          connection.query(makeReading(statement, refuse), values),
        on: (...given) => connection.on(...given),
        off: (...given) => connection.off(...given),
        release: (end) => connection.release(end),
      }
    },
  }
}

function makeReading(statement: string, refuse: (what: string) => Error): string {
  if (!/^begin\b/i.test(statement) || /\bread only\b/i.test(statement)) return statement
  const reading = statement.replace(/^begin isolation level read committed/i, '$& read only')
  if (reading === statement) throw refuse('a transaction')
  return reading
}
