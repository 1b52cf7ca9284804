import type { Sample } from '../model/health.ts'
import { logChoose } from './log-gamma.ts'

/**
 * A 2 × 2 contingency table of two windows and bad or good answers, with fixed margins. If nothing
 * has changed, the number of bad answers in the later window has a hypergeometric distribution.
 */
export interface ContingencyTable {
  /** Number of all requests, of bad answers, and of requests of the later window. */
  all: number
  bad: number
  later: number
  /** Minimum and maximum number of bad answers in the later window. */
  minBad: number
  maxBad: number
}

/** Builds the contingency table of two windows. */
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

/** Computes the pmf: the probability of exactly `x` bad answers in the later window. */
export function computePmf({ all, bad, later }: ContingencyTable, x: number): number {
  return Math.exp(logChoose(later, x) + logChoose(all - later, bad - x) - logChoose(all, bad))
}

/** Computes pmf(x + 1) / pmf(x). */
function computeRatio({ all, bad, later }: ContingencyTable, x: number): number {
  return ((later - x) * (bad - x)) / ((x + 1) * (all - later - bad + x + 1))
}

/** Terms below this share of the sum are ignored. */
const minRelativeTerm = 1e-17

/**
 * Computes the one-sided p-value of Fisher's exact test: the upper tail from `x` bad answers in the
 * later window. Starts at pmf(x) and multiplies by the ratio of neighbours, so that millions of
 * requests take a few thousand steps.
 */
export function computePValue(table: ContingencyTable, x: number): number {
  if (x <= table.minBad) return 1
  if (x > table.maxBad) return 0
  const mode = Math.floor(((table.later + 1) * (table.bad + 1)) / (table.all + 2))
  // Sum the tail without the mode, since its terms decrease.
  if (x <= mode) return Math.max(0, 1 - computeLowerTail(table, x))
  let term = computePmf(table, x)
  let sum = term
  for (let i = x; i < table.maxBad && term > sum * minRelativeTerm; i++) {
    term *= computeRatio(table, i)
    sum += term
  }
  return Math.min(1, sum)
}

function computeLowerTail(table: ContingencyTable, x: number): number {
  let term = computePmf(table, x - 1)
  let sum = term
  for (let i = x - 1; i > table.minBad && term > sum * minRelativeTerm; i--) {
    term /= computeRatio(table, i - 1)
    sum += term
  }
  return sum
}

/** Computes mean, variance and third central moment of the bad answers in the later window. */
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
