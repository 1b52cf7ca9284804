/**
 * A defect of the program that showed after writes may have been sent; `cause` is what was thrown.
 */
export class DefectAfterWrites extends Error {
  constructor(cause: unknown) {
    super('a defect of the program showed after writes may have been sent', { cause })
  }
}
