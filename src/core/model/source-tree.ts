/** The tree that manifests were loaded from. */
export interface SourceTree {
  /** Its commit; null if there is none, or if the tree has changes that are not committed. */
  commit: string | null
  /** The commit below uncommitted changes; absent without. */
  onTopOf?: string
}

/** Author and subject of a commit. */
export interface Committed {
  author: string
  subject: string
}

/** Returns the tree alone. */
export function pickTree({ commit, onTopOf }: SourceTree): SourceTree {
  return onTopOf === undefined ? { commit } : { commit, onTopOf }
}

/**
 * Describes the tree of an apply: its commit (`commit 8c1f0aa3b2d1 “Raise the pool” by Ada`), or
 * that there was none with its changes.
 */
export function describeTree({
  commit,
  onTopOf,
  committed,
}: SourceTree & { committed?: Committed | undefined }): string | null {
  const about = committed === undefined ? '' : ` “${committed.subject}” by ${committed.author}`
  if (commit !== null) return `commit ${commit.slice(0, 12)}${about}`
  return onTopOf === undefined ? null : `uncommitted changes on top of ${onTopOf.slice(0, 12)}`
}
