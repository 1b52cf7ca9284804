import type { Amount } from '../model/amount.ts'
import type { Domain } from '../model/item.ts'
import { exchangeDomains } from './exchange-domains.ts'
import { growWave } from './grow-wave.ts'
import { buildWaveTable, type WaveTable } from './wave-table.ts'
import { choosePioneers, collectKinds, type Kinds } from './wave-kinds.ts'

/** Input of `assignWaves`. */
export interface WaveProblem {
  /** Every domain that is written, in a fixed order. */
  domains: Domain[]
  /** Domains of each write when there are no waves. */
  writes: Domain[][]
  /** Cumulative shares or numbers of domains; the last one covers all domains. */
  amounts: Amount[]
  /** Whether a domain belongs to the first wave. */
  isFirst(domain: Domain): boolean
  /** Each kind of change starts in the earliest wave that has room for it. */
  kinds?: Kinds
}

/** Maximum number of steps for growing waves, over all writes that a wave may grow from. */
const maxWork = 10_000_000

/**
 * Assigns domains to waves so that few writes are split. A write whose domains are in several waves
 * is sent once for each of them.
 *
 * - Wave sizes follow the amounts, rounded up. Empty waves are left out.
 * - Domains that go first are all in the first wave, even if it grows beyond its amount.
 * - Kinds of change take precedence over few writes: a kind starts in the first wave with room for
 *   it.
 *
 * @returns domain → wave number, from 1; deterministic
 */
export function assignWaves(problem: WaveProblem): Map<Domain, number> {
  const { domains, amounts, isFirst } = problem
  const first = domains.filter(isFirst)
  const sizes = computeWaveSizes(amounts, domains.length, first.length)
  const table = buildWaveTable(problem.domains, problem.writes)
  const { waves, fixed } = fillWaves(table, sizes, first, problem.kinds ?? new Map())
  exchangeDomains(table, waves, fixed)
  return waves
}

/** Computes the number of domains of each wave: at least `first` in wave 1, no empty wave. */
export function computeWaveSizes(amounts: Amount[], domains: number, first: number): number[] {
  const ends = computeWaveEnds(amounts, domains, first)
  return ends.map((end, i) => end - (ends[i - 1] ?? 0)).filter((size) => size > 0)
}

/** Computes the number of domains placed by the end of each wave, empty waves included. */
export function computeWaveEnds(amounts: Amount[], domains: number, first: number): number[] {
  let placed = 0
  return amounts.map((amount) => {
    const share =
      'count' in amount ? amount.count : Math.ceil((domains * amount.percent) / 100 - 1e-9)
    placed = Math.max(placed, Math.min(domains, Math.max(share, first)))
    return placed
  })
}

/** Fills the waves in order; the last one gets the rest. `fixed` are domains that must not move. */
function fillWaves(
  table: WaveTable,
  sizes: number[],
  first: Domain[],
  kinds: Kinds,
): { waves: Map<Domain, number>; fixed: Set<Domain> } {
  const waves = new Map<Domain, number>()
  const fixed = new Set(first)
  const tried = new Set<string>()
  for (const [waveIndex, size] of sizes.entries()) {
    const left = table.domains.filter((domain) => !waves.has(domain))
    if (waveIndex + 1 === sizes.length) {
      for (const domain of left) waves.set(domain, waveIndex + 1)
      break
    }
    const required = waveIndex === 0 ? first : []
    const grow = (begin: Domain[]): Domain[] =>
      growWave(table.writes, left, size, begin, maxWork / sizes.length)
    const known = new Set([...tried, ...collectKinds(required, kinds)])
    const pioneers = choosePioneers(
      left.filter((domain) => !fixed.has(domain)),
      size - required.length,
      kinds,
      known,
    )
    const pioneerKinds = collectKinds(pioneers, kinds)
    const grown = grow(required)
    const grownKinds = collectKinds(grown, kinds)
    const isVaried = [...pioneerKinds].every((kind) => tried.has(kind) || grownKinds.has(kind))
    const wave = isVaried ? grown : grow([...required, ...pioneers])
    // Keep one domain of each new kind in this wave when domains are exchanged later.
    for (const domain of choosePioneers(wave, wave.length, kinds, known)) fixed.add(domain)
    for (const domain of wave) waves.set(domain, waveIndex + 1)
    for (const kind of collectKinds(wave, kinds)) tried.add(kind)
  }
  return { waves, fixed }
}
