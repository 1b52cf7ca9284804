import type { Doubt } from '../model/events.ts'

/**
 * Defect of the program that surfaced after writes may have been sent; `cause` is the thrown value.
 */
export class DefectAfterWrites extends Error {
  /** Writes that are known to be in-doubt. */
  readonly doubts: Doubt[]

  constructor(cause: unknown, doubts: DefectAfterWrites['doubts']) {
    super('an internal error occurred after writes may have been sent', { cause })
    this.doubts = doubts
  }
}
