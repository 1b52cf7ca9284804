/** The tree that manifests were loaded from. */
export interface SourceTree {
  /** Its commit; null if there is none, or if the tree has changes that are not committed. */
  commit: string | null
  /** The commit below uncommitted changes; absent without. */
  onTopOf?: string
  /** Author and subject of the commit; absent where they are not known. */
  committed?: Committed | undefined
}

export interface Committed {
  author: string
  subject: string
}

/** Returns the tree alone. */
export function pickTree({ commit, onTopOf, committed }: SourceTree): SourceTree {
  return {
    commit,
    ...(onTopOf === undefined ? {} : { onTopOf }),
    ...(committed === undefined ? {} : { committed }),
  }
}

/**
 * Describes the tree of an apply: its commit (`commit 8c1f0aa3b2d1 “Raise the pool” by Ada`), or
 * that there was none with its changes.
 */
export function describeTree({ commit, onTopOf, committed }: SourceTree): string | null {
  const about = committed === undefined ? '' : ` “${committed.subject}” by ${committed.author}`
  if (commit !== null) return `commit ${commit.slice(0, 12)}${about}`
  return onTopOf === undefined ? null : `uncommitted changes on top of ${onTopOf.slice(0, 12)}`
}
