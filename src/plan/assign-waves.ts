import type { Amount } from '../model/amount.ts'
import type { Domain } from '../model/item.ts'
import { exchange } from './exchange-domains.ts'
import { bestWave } from './grow-wave.ts'
import { buildWaveTable, type WaveTable } from './wave-table.ts'

/** How the domains of a plan are put into waves. */
export interface WaveProblem {
  /** Every domain that is written, in a fixed order. */
  domains: Domain[]
  /** Domains of each write, as if there were no waves. */
  writes: Domain[][]
  /** Cumulative shares or numbers; the last one is everything. */
  amounts: Amount[]
  /** Whether a domain belongs to the first wave. */
  isFirst(domain: Domain): boolean
}

/** Steps of growing waves, over all writes that they may grow from. */
const mostWork = 10_000_000

/**
 * Puts domains into waves so that few writes are cut: a write whose domains lie in several waves has to be sent once for each. Waves
 * have the sizes that the amounts ask for, rounded up; domains that go first are in the first wave even where they are more
 * than it asks for. A wave that would have no domain is left out.
 *
 * @returns domain → wave, from 1. The same input gives the same waves.
 */
export function assignWaves(problem: WaveProblem): Map<Domain, number> {
  const { domains, amounts, isFirst } = problem
  const first = domains.filter(isFirst)
  const sizes = waveSizes(amounts, domains.length, first.length)
  const table = buildWaveTable(problem.domains, problem.writes)
  const waves = filled(table, sizes, first)
  exchange(table, waves, new Set(first))
  return waves
}

/** How many domains each wave has; at least `first` in the first one, none of them empty. */
export function waveSizes(amounts: Amount[], domains: number, first: number): number[] {
  const sizes: number[] = []
  let placed = 0
  for (const amount of amounts) {
    const share = 'count' in amount ? amount.count : Math.ceil((domains * amount.percent) / 100 - 1e-9)
    const until = Math.min(domains, Math.max(share, first))
    if (until > placed) sizes.push(until - placed)
    placed = Math.max(placed, until)
  }
  return sizes
}

/** One wave after the other; the last one is what is left. */
function filled(table: WaveTable, sizes: number[], first: Domain[]): Map<Domain, number> {
  const waves = new Map<Domain, number>()
  for (const [k, size] of sizes.entries()) {
    const left = table.domains.filter((domain) => !waves.has(domain))
    const wave = k + 1 === sizes.length ? left : bestWave(table.writes, left, size, k === 0 ? first : [], mostWork / sizes.length)
    for (const domain of wave) waves.set(domain, k + 1)
  }
  return waves
}
