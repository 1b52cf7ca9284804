import { readFileSync } from 'node:fs'

/**
 * Loads a text file of this package, whose size is known. Throws what the file system throws. In a
 * file of its own, as `--version` loads it and little else.
 */
export function loadPackaged(file: URL): string {
  return readFileSync(file, 'utf8')
}
