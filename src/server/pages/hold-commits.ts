import type { Branch } from '../branch.ts'

/** A branch whose commits stay checked out while they are used. */
export interface HeldBranch extends Branch {
  /** Checks a commit out, and keeps its folder until the work in it has ended. */
  hold<T>(commit: string, work: (root: string) => Promise<T>): Promise<T>
}

/** Adds the commits that are held to those that a branch keeps. */
export function holdCommits(branch: Branch): HeldBranch {
  const held: string[] = []
  return {
    ...branch,
    keepOnly: (commits) => branch.keepOnly([...commits, ...held]),
    hold: async (commit, work) => {
      held.push(commit)
      try {
        return await work(await branch.checkOut(commit))
      } finally {
        held.splice(held.indexOf(commit), 1)
      }
    },
  }
}
