import { readdirSync } from 'node:fs'
import { attempt } from './look.ts'

/**
 * Maximum number of files and folders that one search lists. A workspace of 100,000 domains has
 * half as many; a search of a whole disk ends here.
 */
export const maxListed = 200_000

/**
 * Lists the names in a folder. Throws what the file system throws, and an error with the code
 * `ETOOMANY` above the limit.
 */
export function listNames(folder: string): string[] {
  const names = readdirSync(folder)
  if (names.length <= maxListed) return names
  const message = `expected at most ${maxListed} files in ${folder}, got ${names.length}`
  throw Object.assign(new Error(message), { code: 'ETOOMANY' })
}

/** Lists the names of all but the folders in a folder; none if it can't be read. */
export function listFileNames(folder: string): string[] {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name]))
}
