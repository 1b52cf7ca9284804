import type { Amount } from '../model/amount.ts'
import type { Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain } from '../model/item.ts'
import { assignWaves } from './assign-waves.ts'
import { groupWrites, type WriteProblem, type WriteSolution } from './group-writes.ts'
import type { Kinds } from './wave-kinds.ts'

/**
 * Waves of a plan: by shares of its domains, with the numbers of those that need approval, or the
 * wave numbers of an open rollout.
 */
export type Waves =
  | { amounts: Amount[]; kinds?: Kinds; approval?: number[] }
  | { waveByDomain: ReadonlyMap<Domain, number> }

/** Writes wave by wave. */
export interface WaveSolution extends WriteSolution {
  /** Number of writes without waves. */
  writesAtOnce: number
}

/**
 * Meets all needs wave by wave: no write has domains of two waves. The waves do not depend on the
 * effort.
 */
export function writeInWaves(problem: WriteProblem, waves: Waves): WaveSolution {
  const atOnce = groupWrites(problem)
  const waveByDomain =
    'waveByDomain' in waves ? waves.waveByDomain : computeWaves(problem, waves.amounts, waves.kinds)
  const waveNumbers = [
    ...new Set(problem.needs.map(({ domain }) => waveByDomain.get(domain) ?? 1)),
  ].toSorted((a, b) => a - b)
  const [firstWave] = waveNumbers
  if (waveNumbers.length < 2) {
    return {
      ...atOnce,
      writes: atOnce.writes.map((write) => ({ ...write, wave: firstWave ?? 1 })),
      writesAtOnce: atOnce.writes.length,
    }
  }
  const needsByWave = groupBy(problem.needs, ({ domain }) => waveByDomain.get(domain) ?? 1)
  const writes = waveNumbers.flatMap((wave) => {
    const needs = needsByWave.get(wave) ?? []
    const fresh = groupWrites({
      ...problem,
      needs,
      share: needs.length / problem.needs.length,
      solver: null,
    }).writes
    const cut = cutWrites(atOnce.writes, (domain) => (waveByDomain.get(domain) ?? 1) === wave)
    return (cut.length < fresh.length ? cut : fresh).map((write) => ({ ...write, wave }))
  })
  return {
    writes: writes.map((write, i) => ({ ...write, id: i + 1 })),
    lowerBound: atOnce.lowerBound,
    writesAtOnce: atOnce.writes.length,
  }
}

function computeWaves(
  problem: WriteProblem,
  amounts: Amount[],
  kinds: Kinds = new Map(),
): Map<Domain, number> {
  const { writes } = groupWrites({ ...problem, effort: 'quick', solver: null })
  return assignWaves({
    domains: [...new Set(problem.needs.map(({ domain }) => domain))].toSorted(),
    writes: writes.map(({ domains }) => domains),
    amounts,
    isFirst: problem.isFirst ?? (() => false),
    kinds,
  })
}

/** Cuts writes down to the domains of one wave; the result meets all needs of the wave. */
function cutWrites(writes: Write[], isIn: (domain: Domain) => boolean): Write[] {
  return writes.flatMap((write) => {
    const domains = write.domains.filter(isIn)
    return domains.length === 0 ? [] : [{ ...write, domains }]
  })
}
