/**
 * Defect of the program that surfaced after writes may have been sent; `cause` is the thrown value.
 */
export class DefectAfterWrites extends Error {
  constructor(cause: unknown) {
    super('a defect of the program showed after writes may have been sent', { cause })
  }
}
