import { dirname, join, resolve, sep } from 'node:path'
import { isWithin, resolveLinks } from '../../files/is-inside.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { findKind, findOwner, findRealPath } from '../../files/look.ts'
import { hasHead, looksBare } from '../../files/work-tree.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/** A repository with a work tree. Paths are absolute, and have no links. */
export interface RepositoryPlace {
  /** Folder that every process of git gets as GIT_DIR. */
  gitFolder: string
  /** Top folder of the files, for GIT_WORK_TREE. */
  workTree: string
}

/**
 * Finds the repository around a folder, without running git, which need not be installed. Only
 * `.git` makes a repository: no commit can contain a file or folder of that name. Git itself would
 * also use the settings of any folder that has `HEAD`, `objects` and `refs`, which a commit can
 * bring.
 *
 * @returns null if there is none
 * @throws EdgewiseError `invalid` below a folder that git would take for a bare repository, which a
 *   commit can bring, and `usage` for a `.git` file that leads nowhere
 */
export function findRepository(folder: string): RepositoryPlace | null {
  for (let workTree = resolveLinks(folder); ; workTree = dirname(workTree)) {
    const entry = join(workTree, '.git')
    const kind = findKind(entry)
    if (kind === 'file') return { gitFolder: followFile(entry), workTree }
    if (kind === 'folder' && hasHead(entry)) return { gitFolder: findRealPath(entry), workTree }
    if (looksBare(workTree)) throw createBareError(workTree)
    if (workTree === dirname(workTree)) return null
  }
}

/**
 * Finds the folder whose links a commit may have brought: the top of the work tree, or that of the
 * repository that has this one as a submodule.
 *
 * @returns null if there is no repository
 * @throws EdgewiseError as `findRepository`
 */
export function findCheckout(folder: string): string | null {
  const place = findRepository(folder)
  if (place === null) return null
  const { gitFolder, workTree } = place
  const modules = [sep, '.git', sep, 'modules', sep].join('')
  const outer = gitFolder.slice(0, Math.max(0, gitFolder.indexOf(modules)))
  return outer !== '' && isWithin(outer, workTree) ? outer : workTree
}

/** Maximum size of a `.git` file, bytes. */
const maxLinkBytes = 16 * 1024

/** Follows the `.git` file of a submodule or of a further work tree to its folder. */
function followFile(file: string): string {
  const loaded = loadBounded(file, maxLinkBytes)
  const text = isFault(loaded) ? '' : loaded.toString('utf8')
  const prefix = 'gitdir: '
  const folder = text.startsWith(prefix)
    ? resolve(dirname(file), text.slice(prefix.length).trimEnd())
    : null
  if (folder !== null && hasHead(folder)) return findRealPath(folder)
  throw new EdgewiseError(
    'usage',
    `the file ${file} names no folder of a git repository`,
    'Repair it ("git worktree repair", or "git submodule update"), or remove it.',
  )
}

function createBareError(folder: string): EdgewiseError {
  return new EdgewiseError(
    'invalid',
    `the folder ${folder} looks like a bare git repository, with settings that may start programs`,
    'Remove HEAD, objects and config from it: a commit can bring such files. A workspace belongs ' +
      'in a work tree, which has .git.',
  )
}

/**
 * Tests whether a repository belongs to this user, as git does: its folder, its `.git` and its work
 * tree. For root, the user who ran `sudo` counts as well.
 */
export function isOwnRepository(
  { gitFolder, workTree }: RepositoryPlace,
  env: Record<string, string | undefined>,
): boolean {
  const user = process.geteuid?.()
  if (user === undefined) return true
  const sudoer = user === 0 && /^\d+$/.test(env['SUDO_UID'] ?? '') ? Number(env['SUDO_UID']) : user
  const owners = [gitFolder, workTree, join(workTree, '.git')].map((path) => findOwner(path))
  return owners.every((owner) => owner === user || owner === sudoer)
}
