import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/model/change.ts'
import type { Domain } from '../../src/model/item.ts'
import { assignWaves, computeWaveSizes } from '../../src/plan/assign-waves.ts'
import { describeKinds, findKinds } from '../../src/plan/wave-kinds.ts'
import { buildChange } from '../plans.ts'
import { fc, itOften, runs } from '../runs.ts'
import { domain, replace } from './problems.ts'

const change = (i: number, item: string, path: string): Change =>
  buildChange({
    domain: domain(i),
    item,
    action: 'change',
    after: null,
    patch: [{ op: 'replace', path, value: i }],
  })

describe('kinds of change', () => {
  it('consist of an item and the edited paths, without list indexes', () => {
    const kinds = findKinds([
      change(0, 'origin', '/list/0/port'),
      change(1, 'origin', '/list/7/ip'),
      change(2, 'origin', '/name'),
    ])
    expect([...kinds.values()].flat()).toEqual([
      'change origin (replace /list/*)',
      'change origin (replace /list/*)',
      'change origin (replace /name)',
    ])
  })

  it('are described for the first wave that tries them', () => {
    const kinds = new Map([
      [domain(0), ['set https']],
      [domain(1), ['set https', 'set origin']],
    ])
    const write = { id: 1, items: { https: replace(1) } }
    const writes = [0, 1].map((i) => ({ ...write, wave: i + 1, domains: [domain(i)] }))
    expect(describeKinds(writes, kinds)).toEqual([
      'wave 1 is the first to set https',
      'wave 2 is the first to set origin',
    ])
    expect(describeKinds(writes.slice(0, 1), kinds)).toEqual([])
  })
})

describe('waves of domains with several kinds of change', () => {
  const kindsOfDomains = fc.array(fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 }), {
    minLength: 3,
    maxLength: 40,
  })
  const amounts = [{ count: 2 }, { percent: 30 }, { percent: 100 }]

  itOften('have each kind in wave 1, unless it is full of domains that each add another kind', () =>
    fc.assert(
      fc.property(kindsOfDomains, fc.nat(), (all, seed) => {
        const kinds = new Map(all.map((own, i): [Domain, string[]] => [domain(i), own]))
        const domains = [...kinds.keys()]
        const writes = Array.from({ length: Math.ceil(domains.length / 4) }, (_, i) =>
          domains.filter((__, j) => (j * 7 + seed) % Math.ceil(domains.length / 4) === i),
        )
        const waves = assignWaves({ domains, writes, amounts, isFirst: () => false, kinds })
        const sizes = computeWaveSizes(amounts, domains.length, 0)
        const tried = new Set<string>()
        for (const [k, size] of sizes.entries()) {
          const own = domains.filter((name) => waves.get(name) === k + 1)
          expect(own).toHaveLength(size)
          const before = tried.size
          for (const name of own) for (const kind of kinds.get(name) ?? []) tried.add(kind)
          const count = new Set(domains.flatMap((name) => kinds.get(name) ?? [])).size
          expect(tried.size).toBeGreaterThanOrEqual(Math.min(count, before + size))
        }
      }),
      { numRuns: runs(50, 600) },
    ),
  )
})
