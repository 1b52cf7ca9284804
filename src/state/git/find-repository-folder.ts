import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Finds the repository that a folder seems to be in, without running git, which need not be
 * installed. Returns its top folder, or the folder of a bare repository; null if there is none.
 */
export function findRepositoryFolder(folder: string): string | null {
  for (let current = folder; ; current = dirname(current)) {
    if (
      existsSync(join(current, '.git')) ||
      (existsSync(join(current, 'HEAD')) && existsSync(join(current, 'objects')))
    )
      return current
    if (current === dirname(current)) return null
  }
}
