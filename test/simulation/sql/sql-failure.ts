/** Failure with a code, as the client of PostgreSQL reports it; it is marked as simulated. */
export class SqlFailure extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(`${message} (simulated)`)
    this.code = code
  }
}
