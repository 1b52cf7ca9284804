import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Register } from './register.ts'

/**
 * Creates a register whose failure ends no work: it is then empty, and every change succeeds.
 *
 * @param onFailure called with the reason of the first failure
 */
export function createOptionalRegister(
  register: Register,
  onFailure: (reason: string) => void,
): Register {
  let hasFailed = false
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    if (hasFailed) return otherwise
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      hasFailed = true
      onFailure(error.message)
      return otherwise
    }
  }
  return {
    location: register.location,
    read: () => attempt(() => register.read(), { version: null, text: null }),
    compareAndSwap: (version, text) =>
      attempt<string | null>(() => register.compareAndSwap(version, text), 'none'),
  }
}
