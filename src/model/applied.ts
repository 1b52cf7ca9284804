import type { OutcomeCounts } from './outcome.ts'
import type { SourceTree } from './source-tree.ts'

/**
 * Outcomes of an apply. `unfinished` until its end is recorded; the next change of the state makes
 * it `interrupted` if its process ended without recording its end.
 */
export const applyOutcomes = ['unfinished', 'complete', 'incomplete', 'interrupted'] as const

/** One apply, as recorded in the journal. */
export interface Applied extends SourceTree {
  id: string
  /** ISO 8601. */
  startedAt: string
  /** ISO 8601; null while it runs, or if its process ended without recording its end. */
  endedAt: string | null
  /** User that started it; null if unknown. */
  author: string | null
  /**
   * Workspace file from the top of its repository, with `/`, after the name of its remote and
   * `//` where repositories may share the state: the same in every clone. Absent for applies of
   * earlier versions.
   */
  workspace?: string
  /** While the apply is unfinished, begun writes are in-doubt and all later ones not sent. */
  writes: OutcomeCounts
  /** Parts of the writes (domains × items); absent for applies of earlier versions. */
  parts?: OutcomeCounts
  outcome: (typeof applyOutcomes)[number]
}
