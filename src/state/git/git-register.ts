import type { GitRepository } from './git-repository.ts'
import type { Register } from '../register.ts'

const path = 'text'

/**
 * Creates a register on a ref: each version is a separate commit, on the remote if there is one.
 */
export function createGitRegister(git: GitRepository, name: string): Register {
  const ref = `refs/edgewise/${name}`
  const { remote } = git
  return {
    location: remote === null ? ref : `${ref} of ${remote}`,
    read: async () => {
      const version = remote === null ? await git.findTip(ref) : await git.fetch(ref)
      if (version === null) return { version, text: null }
      return { version, text: (await git.loadFiles(version, path)).get(path) ?? '' }
    },
    compareAndSwap: async (version, text) => {
      const next = text === null ? null : await git.commit(null, new Map([[path, text]]), 'Lock')
      const swapped =
        remote === null ? await git.move(ref, version, next) : await git.push(ref, version, next)
      return swapped ? (next ?? 'none') : null
    },
  }
}
