import type { GitRepository } from './git-repository.ts'
import type { Register } from '../register.ts'

const path = 'text'

/** A register on a ref: each state a commit of its own, on the remote where there is one. */
export function gitRegister(git: GitRepository, name: string): Register {
  const ref = `refs/edgewise/${name}`
  const { remote } = git
  return {
    location: remote === null ? ref : `${ref} of ${remote}`,
    near: remote === null,
    read: async () => {
      const version = remote === null ? await git.tip(ref) : await git.fetch(ref)
      if (version === null) return { version, text: null }
      return { version, text: (await git.files(version, path)).get(path) ?? '' }
    },
    swap: async (version, text) => {
      const next = text === null ? null : await git.commit(null, new Map([[path, text]]), 'Lock')
      const swapped =
        remote === null ? await git.move(ref, version, next) : await git.push(ref, version, next)
      return swapped ? (next ?? 'none') : null
    },
  }
}
