import { existsSync, lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { resolveLinks } from './is-inside.ts'

/** Names at the top of a work tree of git or another system, or of a workspace without one. */
const marks =
  '.git .hg .jj .sl .svn .bzr .pijul .fslckout .repo _FOSSIL_ _MTN _darcs CVS edgewise.yaml'.split(
    ' ',
  )

/**
 * Tests whether somebody else may have brought the files of a folder: whether it, or a folder above
 * it, looks like the top of a work tree of any kind, of a workspace, or like a bare repository.
 */
export function isInAnyWorkTree(folder: string): boolean {
  for (let top = resolveLinks(folder); ; top = dirname(top)) {
    const current = top
    if (marks.some((name) => existsSync(join(current, name)))) return true
    if (looksBare(top)) return true
    if (top === dirname(top)) return false
  }
}

/** Tests whether git would take a folder for a bare repository, which a commit can bring. */
export function looksBare(folder: string): boolean {
  return hasHead(folder) && ['objects', 'commondir'].some((name) => existsSync(join(folder, name)))
}

/** Tests for the HEAD of a repository, which may be a link to a branch that does not exist yet. */
export function hasHead(folder: string): boolean {
  return lstatSync(join(folder, 'HEAD'), { throwIfNoEntry: false }) !== undefined
}
