import { afterAll, beforeAll } from 'vitest'

/** Whether `scryptSync` is that of Node, instead of a hash of its arguments. */
export const scrypt = { isReal: false }

/** Makes fingerprints in this file equal to those of the built program. */
export function useRealScrypt(): void {
  beforeAll(() => {
    scrypt.isReal = true
  })
  afterAll(() => {
    scrypt.isReal = false
  })
}
