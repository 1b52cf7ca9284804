import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Reports whether a folder seems to be in a repository, without running git, which need not be
 * installed elsewhere.
 */
export function isInsideRepository(folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    if (
      existsSync(join(current, '.git')) ||
      (existsSync(join(current, 'HEAD')) && existsSync(join(current, 'objects')))
    )
      return true
    if (current === dirname(current)) return false
  }
}
