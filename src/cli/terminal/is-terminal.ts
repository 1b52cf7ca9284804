import { isatty } from 'node:tty'
import { isCharacterDevice } from '../../files/look.ts'

/** Tests whether a file descriptor is a terminal. Does not open a stream, which takes time. */
export function isTerminal(descriptor: number): boolean {
  const isDevice = process.platform === 'win32' || isCharacterDevice(descriptor)
  return isDevice && isatty(descriptor)
}
