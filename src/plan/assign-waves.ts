import type { Amount } from '../model/amount.ts'
import type { Domain } from '../model/item.ts'
import { exchangeDomains } from './exchange-domains.ts'
import { growWave } from './grow-wave.ts'
import { buildWaveTable, type WaveTable } from './wave-table.ts'
import { choosePioneers, collectKinds, type Kinds } from './wave-kinds.ts'

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
  /** Each kind stands in the earliest wave that has room for it. */
  kinds?: Kinds
}

/** Steps of growing waves, over all writes that they may grow from. */
const maxWork = 10_000_000

/**
 * Puts domains into waves so that few writes are cut: a write whose domains lie in several waves
 * has to be sent once for each. Waves have the sizes that the amounts ask for, rounded up; domains
 * that go first are in the first wave even where they are more than it asks for. A wave that would
 * have no domain is left out. Kinds of change come before few writes: no kind first goes out to
 * more domains than the first wave with room for it has.
 *
 * @returns domain → wave, from 1. The same input gives the same waves.
 */
export function assignWaves(problem: WaveProblem): Map<Domain, number> {
  const { domains, amounts, isFirst } = problem
  const first = domains.filter(isFirst)
  const sizes = computeWaveSizes(amounts, domains.length, first.length)
  const table = buildWaveTable(problem.domains, problem.writes)
  const { waves, fixed } = filled(table, sizes, first, problem.kinds ?? new Map())
  exchangeDomains(table, waves, fixed)
  return waves
}

/** How many domains each wave has; at least `first` in the first one, none of them empty. */
export function computeWaveSizes(amounts: Amount[], domains: number, first: number): number[] {
  const sizes: number[] = []
  let placed = 0
  for (const amount of amounts) {
    const share =
      'count' in amount ? amount.count : Math.ceil((domains * amount.percent) / 100 - 1e-9)
    const until = Math.min(domains, Math.max(share, first))
    if (until > placed) sizes.push(until - placed)
    placed = Math.max(placed, until)
  }
  return sizes
}

/**
 * One wave after the other; the last one is what is left. Also returns the domains that have to
 * stay.
 */
function filled(
  table: WaveTable,
  sizes: number[],
  first: Domain[],
  kinds: Kinds,
): { waves: Map<Domain, number>; fixed: Set<Domain> } {
  const waves = new Map<Domain, number>()
  const fixed = new Set(first)
  const tried = new Set<string>()
  for (const [k, size] of sizes.entries()) {
    const left = table.domains.filter((domain) => !waves.has(domain))
    if (k + 1 === sizes.length) {
      for (const domain of left) waves.set(domain, k + 1)
      break
    }
    const given = k === 0 ? first : []
    const grow = (begin: Domain[]): Domain[] =>
      growWave(table.writes, left, size, begin, maxWork / sizes.length)
    const known = new Set([...tried, ...collectKinds(given, kinds)])
    const pioneers = choosePioneers(
      left.filter((domain) => !fixed.has(domain)),
      size - given.length,
      kinds,
      known,
    )
    const wanted = collectKinds(pioneers, kinds)
    const grown = grow(given)
    const had = collectKinds(grown, kinds)
    const isVaried = [...wanted].every((kind) => tried.has(kind) || had.has(kind))
    const wave = isVaried ? grown : grow([...given, ...pioneers])
    // One domain of each new kind stays in its wave, whatever is exchanged later.
    for (const domain of choosePioneers(wave, wave.length, kinds, known)) fixed.add(domain)
    for (const domain of wave) waves.set(domain, k + 1)
    for (const kind of collectKinds(wave, kinds)) tried.add(kind)
  }
  return { waves, fixed }
}
