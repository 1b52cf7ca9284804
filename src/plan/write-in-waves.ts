import type { Amount } from '../model/amount.ts'
import type { Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain } from '../model/item.ts'
import { assignWaves } from './assign-waves.ts'
import { groupWrites, type WriteProblem, type WriteSolution } from './group-writes.ts'
import type { Kinds } from './wave-kinds.ts'

/**
 * How a plan goes out: by shares of its domains, or each domain in the wave that an open rollout
 * gave it.
 */
export type Waves = { amounts: Amount[]; kinds?: Kinds } | { waveOf: ReadonlyMap<Domain, number> }

/** Writes wave by wave, and how many they would be all at once. */
export interface WaveSolution extends WriteSolution {
  /** Writes without waves. */
  writesAtOnce: number
}

/**
 * Meets all needs wave by wave: no write has domains of two waves. The waves do not depend on the
 * effort, so that a plan that was looked at for longer has the same ones.
 */
export function writeInWaves(problem: WriteProblem, waves: Waves): WaveSolution {
  const whole = groupWrites(problem)
  const waveOf = 'waveOf' in waves ? waves.waveOf : wavesFor(problem, waves.amounts, waves.kinds)
  const numbers = [...new Set(problem.needs.map(({ domain }) => waveOf.get(domain) ?? 1))].toSorted(
    (a, b) => a - b,
  )
  const [only] = numbers
  if (numbers.length < 2) {
    return {
      ...whole,
      writes: whole.writes.map((write) => ({ ...write, wave: only ?? 1 })),
      writesAtOnce: whole.writes.length,
    }
  }
  const needsOf = groupBy(problem.needs, ({ domain }) => waveOf.get(domain) ?? 1)
  const writes = numbers.flatMap((wave) => {
    const needs = needsOf.get(wave) ?? []
    const anew = groupWrites({
      ...problem,
      needs,
      share: needs.length / problem.needs.length,
      solver: null,
    }).writes
    const cut = cutTo(whole.writes, (domain) => (waveOf.get(domain) ?? 1) === wave)
    return (cut.length < anew.length ? cut : anew).map((write) => ({ ...write, wave }))
  })
  return {
    writes: writes.map((write, i) => ({ ...write, id: i + 1 })),
    lowerBound: whole.lowerBound,
    writesAtOnce: whole.writes.length,
  }
}

function wavesFor(
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

/** The parts of writes for the domains of one wave: they meet all needs there. */
function cutTo(writes: Write[], isIn: (domain: Domain) => boolean): Write[] {
  return writes.flatMap((write) => {
    const domains = write.domains.filter(isIn)
    return domains.length === 0 ? [] : [{ ...write, domains }]
  })
}
