import type { Outside } from './outside.ts'

/**
 * Runs work that blocks this thread.
 *
 * @throws CancelledError when an interrupt ends it
 */
export function runBlocking<T>(outside: Outside, work: () => T): T {
  return outside.runBlocking === undefined ? work() : outside.runBlocking(work)
}
