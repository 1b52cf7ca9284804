/** Exit codes; what they mean is part of the program's outside. */
export const exits = { done: 0, failed: 1, differences: 2, incomplete: 3 } as const

/** A defect of the program that showed after writes may have been sent; `cause` is what was thrown. */
export class DefectAfterWrites extends Error {
  constructor(cause: unknown) {
    super('a defect of the program showed after writes may have been sent', { cause })
  }
}
