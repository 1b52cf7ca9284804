import type { JournalFile } from './generated/state-types.ts'

/**
 * The tree that manifests were loaded from: its commit, or the one below uncommitted changes. The
 * schema of the journal describes the keys.
 */
export type SourceTree = Pick<JournalFile, 'commit' | 'onTopOf' | 'committed'>

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
