import type { Amount } from '../model/amount.ts'
import { computeWaveEnds } from './assign-waves.ts'

/** Sizes that determine the waves of a plan. */
interface WaveExtent {
  /** Cumulative shares or numbers of domains, as configured. */
  amounts: Amount[]
  /** Number of domains that are written, and of those that go first. */
  domains: number
  first: number
}

/**
 * Finds the waves of a plan that need approval, by their numbers in the plan. A plan has fewer
 * waves than configured when some of them are empty.
 *
 * @param approval numbers of configured waves, from 1
 */
export function findApprovalWaves(
  approval: number[],
  { amounts, domains, first }: WaveExtent,
): number[] {
  const ends = computeWaveEnds(amounts, domains, first)
  const present = ends.flatMap((end, i) => (end > (ends[i - 1] ?? 0) ? [i + 1] : []))
  return placeApprovals(approval, present)
}

/**
 * Places approvals in the waves that have domains. The approval of an empty wave moves to the next
 * wave with domains, or to the last one if none follows: it is never lost.
 *
 * @param numbers numbers of the waves that need approval
 * @param present numbers of the waves that have domains, ascending
 * @returns places in `present`, from 1
 */
export function placeApprovals(numbers: number[], present: number[]): number[] {
  if (present.length === 0) return []
  const places = numbers.map((number) =>
    Math.min(present.length, present.filter((wave) => wave < number).length + 1),
  )
  return [...new Set(places)].toSorted((a, b) => a - b)
}
