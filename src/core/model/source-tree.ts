/** The tree that manifests were loaded from. */
export interface SourceTree {
  /** Its commit; null if there is none, or if the tree has changes that are not committed. */
  commit: string | null
  /** The commit below uncommitted changes; absent without. */
  onTopOf?: string
}

/** Returns the tree alone. */
export function pickTree({ commit, onTopOf }: SourceTree): SourceTree {
  return onTopOf === undefined ? { commit } : { commit, onTopOf }
}

/** Describes the tree of an apply: its commit, or that there was none with its changes. */
export function describeTree({ commit, onTopOf }: SourceTree): string | null {
  if (commit !== null) return `commit ${commit.slice(0, 12)}`
  return onTopOf === undefined ? null : `uncommitted changes on top of ${onTopOf.slice(0, 12)}`
}
