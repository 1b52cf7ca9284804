import { setImmediate } from 'node:timers/promises'
import type { Parallel } from '../../core/model/parallel.ts'
import type { Computing } from './parts.ts'

/**
 * Runs a function that blocks this thread with the pool of threads, and ends the threads: they take
 * much memory.
 */
export async function withPool<T>(outside: Computing, run: (parallel?: Parallel) => T): Promise<T> {
  const { pool } = outside
  // A signal that has arrived is lost unless it is handled before the work.
  if (outside.runBlocking !== undefined) {
    await setImmediate()
    await setImmediate()
  }
  try {
    return runBlocking(outside, () => run(pool))
  } finally {
    await pool?.end()
  }
}

/**
 * Runs work that blocks this thread.
 *
 * @throws CancelledError when an interrupt ends it
 */
export function runBlocking<T>(outside: Computing, work: () => T): T {
  return outside.runBlocking === undefined ? work() : outside.runBlocking(work)
}
