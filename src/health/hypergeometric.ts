import type { Sample } from '../model/health.ts'
import { logChoose } from './log-factorial.ts'

/**
 * How the bad answers of both windows together fall on the later one when nothing has changed: each
 * request is as likely to be bad as any other, so that their number in the later window is
 * hypergeometric.
 */
export interface ContingencyTable {
  /** All requests, the bad ones, and those of the later window. */
  all: number
  bad: number
  later: number
  /** The fewest and the most bad answers that the later window can have. */
  minBad: number
  maxBad: number
}

/** The fall of two windows. */
export function buildContingencyTable(before: Sample, after: Sample): ContingencyTable {
  const all = before.requests + after.requests
  const bad = before.bad + after.bad
  return {
    all,
    bad,
    later: after.requests,
    minBad: Math.max(0, bad - before.requests),
    maxBad: Math.min(bad, after.requests),
  }
}

/** How likely exactly so many bad answers fall on the later window. */
export function computePmf({ all, bad, later }: ContingencyTable, x: number): number {
  return Math.exp(logChoose(later, x) + logChoose(all - later, bad - x) - logChoose(all, bad))
}

/** How much likelier x + 1 is than x. */
function ratio({ all, bad, later }: ContingencyTable, x: number): number {
  return ((later - x) * (bad - x)) / ((x + 1) * (all - later - bad + x + 1))
}

/** Terms below this share of the sum no longer count. */
const negligible = 1e-17

/**
 * How likely at least `x` bad answers fall on the later window: the one-sided test of Fisher, exact
 * for the smallest counts. The sum begins at x and follows the ratio of neighbours, so that
 * millions of requests take some thousand steps.
 */
export function computePValue(fall: ContingencyTable, x: number): number {
  if (x <= fall.minBad) return 1
  if (x > fall.maxBad) return 0
  const mode = Math.floor(((fall.later + 1) * (fall.bad + 1)) / (fall.all + 2))
  // The side without the peak is summed, whose terms only fall.
  if (x <= mode) return Math.max(0, 1 - below(fall, x))
  let term = computePmf(fall, x)
  let sum = term
  for (let at = x; at < fall.maxBad && term > sum * negligible; at++) {
    term *= ratio(fall, at)
    sum += term
  }
  return Math.min(1, sum)
}

function below(fall: ContingencyTable, x: number): number {
  let term = computePmf(fall, x - 1)
  let sum = term
  for (let at = x - 1; at > fall.minBad && term > sum * negligible; at--) {
    term /= ratio(fall, at - 1)
    sum += term
  }
  return sum
}

/** Mean, variance and third central moment of the bad answers that fall on the later window. */
export function computeMoments({ all, bad, later }: ContingencyTable): {
  mean: number
  variance: number
  third: number
} {
  const mean = (later * bad) / all
  if (all < 2) return { mean, variance: 0, third: 0 }
  const variance = (mean * (all - bad) * (all - later)) / (all * (all - 1))
  const third = all < 3 ? 0 : (variance * (all - 2 * bad) * (all - 2 * later)) / (all * (all - 2))
  return { mean, variance, third }
}
