import { isatty } from 'node:tty'
import { mayBeTerminal } from '../../files/look.ts'

/**
 * Tests whether a file descriptor is a terminal. Opens no stream, and loads the module of terminals
 * for what may be one only: both take time, and the stdin of a CI job is often the null device.
 */
export function isTerminal(descriptor: number): boolean {
  const mayBe = process.platform === 'win32' || mayBeTerminal(descriptor)
  return mayBe && isatty(descriptor)
}
