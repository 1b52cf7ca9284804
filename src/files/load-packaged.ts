import { readFileSync } from 'node:fs'

/** Loads a text file of this package, whose size is known. Throws what the file system throws. */
export function loadPackaged(file: URL): string {
  return readFileSync(file, 'utf8')
}
