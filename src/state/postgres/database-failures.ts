import { EdgewiseError } from '../../model/edgewise-error.ts'

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
export function isConnectionLost(error: Error): boolean {
  const code = getCode(error)
  return (
    systemCodes.includes(code) ||
    /^(?:08\w{3}|57P0[1235]|53300|25P03)$/.test(code) ||
    clientMessages.some((text) => error.message.startsWith(text))
  )
}

/** Tests whether a transaction lost against others: a serialization failure, or a deadlock. */
export function isRepeatable(error: Error): boolean {
  return ['40001', '40P01', '55P03'].includes(getCode(error))
}

/** Explains a failure of a database to the user. */
export function explainFailure(error: Error, location: string): EdgewiseError {
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
