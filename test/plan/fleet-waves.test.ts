// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import type { Amount } from '../../src/core/model/config.ts'
import type { Domain } from '../../src/core/model/item.ts'
import { computeWaveEnds, listSizes } from '../../src/core/plan/assign-waves.ts'
import type { WriteProblem } from '../../src/core/plan/group-writes.ts'
import { writeInWaves, type WaveSolution } from '../../src/core/plan/write-in-waves.ts'
import { families } from './fleet-mixes.ts'
import { itOften, long } from '../runs.ts'
import { buildFleet } from './build-fleet.ts'
import { domain, findFaults } from './problems.ts'

const amounts = [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }]
const domains = long ? 600 : 50
/** Two domains in the first wave, which has room for one. */
const firstDomains = new Set([domain(7), domain(21)])

const problemsByFamily = Object.keys(families).map((family, i): [string, WriteProblem] => [
  family,
  {
    ...buildFleet(family, domains, true),
    grouping: {
      groups: i % 2 === 0 ? 'all' : 'documented',
      together: i % 3 === 0 ? [] : [['origin', 'https']],
    },
    ...(i < 3 ? {} : { isFirst: (name: Domain) => firstDomains.has(name) }),
  },
])

/** Lists the domains of each wave, first wave first. */
function listDomainsByWave({ writes }: WaveSolution): Domain[][] {
  const waves: Set<Domain>[] = []
  for (const { wave, domains: own } of writes) {
    const known = (waves[wave - 1] ??= new Set())
    for (const name of own) known.add(name)
  }
  return waves.map((own) => [...own])
}

describe.each(problemsByFamily)('a fleet of the family %s in waves', (_, problem) => {
  const names = [...new Set(problem.needs.map((need) => need.domain))]
  const solution = writeInWaves(problem, { amounts })

  itOften('meets all needs in waves of the right sizes, the same for any order of them', () => {
    expect(findFaults(problem, solution.writes)).toEqual([])
    expect(solution.lowerBound).toBeLessThanOrEqual(solution.writesAtOnce)
    expect(solution.writesAtOnce).toBeLessThanOrEqual(solution.writes.length)
    for (const write of solution.writes)
      expect(write.domains.length).toBeLessThanOrEqual(problem.domainsPerWrite)
    const waves = listDomainsByWave(solution)
    const first = problem.isFirst === undefined ? 0 : firstDomains.size
    expect(waves.map((own) => own.length)).toEqual(
      listSizes(computeWaveEnds(amounts, names.length, first)),
    )
    expect(waves.flat().toSorted()).toEqual(names.toSorted())
    for (const name of names.filter((each) => problem.isFirst?.(each) === true))
      expect(waves[0]).toContain(name)
    const needs = problem.needs.toReversed()
    expect(writeInWaves({ ...problem, needs }, { amounts })).toEqual(solution)
  })
})

it('takes at most 15 % more writes in waves than at once', () => {
  const { writes, writesAtOnce } = writeInWaves(buildFleet('layered', 150), { amounts })
  expect(writes.length).toBeLessThanOrEqual(1.15 * writesAtOnce)
})

describe('progress', () => {
  const listProgress = (problem: WriteProblem, waves: Amount[]): number[] => {
    const seen: number[] = []
    const progress = (made: number, all: number): void => void seen.push(made / all)
    writeInWaves({ ...problem, progress }, { amounts: waves })
    return seen
  }
  const fleet = buildFleet('layered', 60)

  it('never goes back while the domains of the waves are chosen, up to the last step', () => {
    const seen = listProgress(fleet, amounts)
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen)
    expect(new Set(seen).size).toBeGreaterThan(2)
    expect(seen.at(-1)).toBe(1)
  })

  it('is not reported if nothing is searched', () => {
    expect(listProgress({ ...fleet, needs: fleet.needs.slice(0, 1) }, [])).toEqual([])
  })
})
