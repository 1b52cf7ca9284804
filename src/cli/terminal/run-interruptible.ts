import { Script } from 'node:vm'
import { CancelledError } from '../../model/edgewise-error.ts'

/** Global name of the work while a script runs it. */
const key = Symbol.for('edgewise.work')
const source = "globalThis[Symbol.for('edgewise.work')]()"

/**
 * Runs work that blocks this thread, so that Ctrl-C ends it: no handler of a signal can run
 * meanwhile, but Node can end a script.
 *
 * @param signal aborted by earlier signals, after which no work begins
 * @param interrupt called when Ctrl-C has ended the work
 * @throws CancelledError after an interrupt
 */
export function runInterruptible<T>(work: () => T, signal: AbortSignal, interrupt: () => void): T {
  const cancelled = new CancelledError('Interrupted before anything was changed')
  if (signal.aborted) throw cancelled
  try {
    Object.assign(globalThis, { [key]: work })
    return new Script(source).runInThisContext({ breakOnSigint: true }) as T
  } catch (error) {
    // Node creates the error in another realm, so it is no instance of Error here.
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
      throw error
    interrupt()
    throw cancelled
  } finally {
    Reflect.deleteProperty(globalThis, key)
  }
}
