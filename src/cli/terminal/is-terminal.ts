import { fstatSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Tests whether a file descriptor is a terminal. Does not open a stream, which takes time. */
export function isTerminal(descriptor: number): boolean {
  const isDevice = process.platform === 'win32' || fstatSync(descriptor).isCharacterDevice()
  return isDevice && isatty(descriptor)
}
