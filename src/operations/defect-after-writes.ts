/**
 * Defect of the program that surfaced after writes may have been sent; `cause` is the thrown value.
 */
export class DefectAfterWrites extends Error {
  constructor(cause: unknown) {
    super('an internal error occurred after writes may have been sent', { cause })
  }
}
