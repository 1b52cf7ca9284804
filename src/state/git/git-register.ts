import type { GitRepository } from './git-repository.ts'
import type { Register } from '../store/register.ts'

const path = 'text'

/**
 * Creates a register on a ref: each version is a separate commit, on the remote if there is one.
 */
export function createGitRegister(git: GitRepository, name: string, message = 'Lock'): Register {
  const ref = `refs/edgewise/${name}`
  const { remote } = git
  /** The last version of this process: the text of a version never changes. */
  let last = { version: '', text: '' }
  return {
    location: remote === null ? ref : `${ref} of ${remote}`,
    read: async () => {
      const version = remote === null ? await git.findTip(ref) : await git.fetch(ref, last.version)
      if (version === null) return { version, text: null }
      if (version !== last.version)
        last = { version, text: (await git.loadFiles(version, path)).get(path) ?? '' }
      return last
    },
    compareAndSwap: async (version, text) => {
      const next = text === null ? null : await git.commit(null, new Map([[path, text]]), message)
      const swapped =
        remote === null ? await git.move(ref, version, next) : await git.push(ref, version, next)
      if (swapped && next !== null && text !== null) last = { version: next, text }
      return swapped ? (next ?? 'none') : null
    },
  }
}
