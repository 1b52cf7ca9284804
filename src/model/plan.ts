import type { Change, Write } from './change.ts'
import type { Domain, ItemKey } from './item.ts'

/**
 * Counts of a plan. `set`, `change`, `unset`, `release`, `unchanged` and `held` count items of
 * domains.
 */
export interface PlanSummary {
  /** Domains with a change. */
  domains: number
  set: number
  change: number
  unset: number
  release: number
  unchanged: number
  held: number
  writes: number
  /** No plan for these changes can have fewer writes. */
  lowerBound: number
  /** Least time that the call rate asks for: 60 × max(0, ⌈writes / callsPerMinute⌉ − 1). */
  seconds: number
}

/** How long the planner looks for fewer writes, from short to long. */
export const efforts = ['quick', 'normal', 'thorough'] as const
export type Effort = (typeof efforts)[number]

/**
 * What made the writes of a plan: the same planner with the same effort makes the same writes of
 * the same changes.
 */
export interface Planner {
  version: number
  effort: Effort
}

/** Why the writes are as they are. */
export interface Explanation {
  /**
   * Calls that the same changes would take: one for each resource, with domains of an equal patch
   * together, one item at a time.
   */
  single: number
  equalPatches: number
  itemByItem: number
  writes: { id: number; reason: string }[]
}

/** What a plan rests on: one hash for each domain that it touches. */
export interface PlanBasis {
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  target: string[]
  /** The only items that the plan is about; empty for all. */
  items: string[]
  commit: string | null
}

/** Changes, the writes that carry them out in their order, and what both rest on. */
export interface Plan {
  changes: Change[]
  writes: Write[]
  summary: PlanSummary
  basis: PlanBasis
  planner: Planner
  /** Sentences that the reader should know before applying. */
  warnings: string[]
  /**
   * References of secrets that stand in the changes with a recorded fingerprint, by fingerprint: a
   * name, or a template around names. Never written to a plan file.
   */
  references?: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Readonly<Record<string, string>>>>
  /** Only where it was asked for. */
  explanation?: Explanation
}
