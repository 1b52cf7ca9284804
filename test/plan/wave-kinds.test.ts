import { describe, expect, it } from 'vitest'
import type { Amount } from '../../src/core/model/config.ts'
import type { Change } from '../../src/core/model/change.ts'
import type { Domain } from '../../src/core/model/item.ts'
import { assignWaves, computeWaveEnds, listSizes } from '../../src/core/plan/assign-waves.ts'
import {
  choosePioneers,
  describeKinds,
  findKinds,
  listWaves,
} from '../../src/core/plan/wave-kinds.ts'
import { buildChange } from '../plans.ts'
import { fc, itLong, runs } from '../runs.ts'
import { domain, replace } from './problems.ts'

const change = (i: number, item: string, path: string): Change =>
  buildChange({
    domain: domain(i),
    item,
    action: 'change',
    after: null,
    patch: [{ op: 'replace', path, value: i }],
  })

/** Expects that no domain of a wave can make room for a kind of change that starts later. */
function expectEarlyKinds(
  waves: ReadonlyMap<Domain, number>,
  kinds: ReadonlyMap<Domain, string[]>,
  first: ReadonlySet<Domain>,
): void {
  const domains = [...waves.keys()]
  const countKinds = (names: Domain[]) =>
    new Set(names.flatMap((name) => kinds.get(name) ?? [])).size
  for (const wave of new Set(waves.values())) {
    const until = domains.filter((name) => (waves.get(name) ?? 0) <= wave)
    const count = countKinds(until)
    if (count === countKinds(domains)) continue
    for (const name of until.filter((each) => waves.get(each) === wave && !first.has(each)))
      expect(countKinds(until.filter((other) => other !== name))).toBeLessThan(count)
  }
}

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
    const waves = listWaves(writes, kinds)
    expect(waves).toEqual([
      { wave: 1, domains: 1, writes: 1, kinds: ['set https'] },
      { wave: 2, domains: 1, writes: 1, kinds: ['set origin'] },
    ])
    expect(describeKinds(waves)).toEqual([
      'wave 1 is the first to set https',
      'wave 2 is the first to set origin',
    ])
    expect(describeKinds(waves.slice(0, 1))).toEqual([])
  })

  it.each([
    [6, 'set a; set b; set c; set d; set e; and 1 more kind of change'],
    [7, 'set a; set b; set c; set d; set e; and 2 more kinds of change'],
  ])('counts the kinds that a note does not name, with %i kinds', (count, expected) => {
    const kinds = 'abcdefg'
      .split('')
      .slice(0, count)
      .map((item) => `set ${item}`)
    const waves = [
      { wave: 1, domains: 1, writes: count, kinds },
      { wave: 2, domains: 1, writes: 1, kinds: [] },
    ]
    expect(describeKinds(waves)).toEqual([`wave 1 is the first to ${expected}`])
  })
})

describe('waves of domains with several kinds of change', () => {
  const mixes = fc.record({
    all: fc.array(fc.subarray(['a', 'b', 'c', 'd', 'e', 'f'], { minLength: 1 }), {
      minLength: 3,
      maxLength: 30,
    }),
    amounts: fc.constantFrom<Amount[]>(
      [{ count: 2 }, { percent: 30 }, { percent: 100 }],
      [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }],
      [{ count: 3 }, { percent: 100 }],
    ),
    firstDomains: fc.uniqueArray(fc.nat(29), { maxLength: 3 }),
    width: fc.integer({ min: 1, max: 4 }),
  })

  itLong('have each kind in the earliest wave with room for it', () =>
    fc.assert(
      fc.property(mixes, ({ all, amounts, firstDomains, width }) => {
        const kinds = new Map(all.map((own, i): [Domain, string[]] => [domain(i), own]))
        const domains = [...kinds.keys()]
        const first = new Set(firstDomains.map(domain))
        const { waves } = assignWaves({
          domains,
          groups: [0, 1, 2].map((i) => domains.filter((__, j) => (j * 7) % 3 === i)),
          width,
          amounts,
          isFirst: (name) => first.has(name),
          kinds,
          steps: 2_000,
        })
        const own = domains.filter((name) => first.has(name)).length
        const sizes = listSizes(computeWaveEnds(amounts, domains.length, own))
        expect(
          sizes.map((_, k) => domains.filter((name) => waves.get(name) === k + 1).length),
        ).toEqual(sizes)
        for (const name of domains) if (first.has(name)) expect(waves.get(name)).toBe(1)
        expectEarlyKinds(waves, kinds, first)
      }),
      { numRuns: runs(60, 600) },
    ),
  )

  it('have no domain whose kinds others of the wave have, while another kind has no room', () => {
    const lists = ['abc', 'ade', 'bfg', 'chi', 'j'].map((own) => own.split(''))
    const kinds = new Map(lists.map((own, i): [Domain, string[]] => [domain(i), own]))
    const pioneers = choosePioneers([...kinds.keys()], 4, kinds, new Set())
    expect(pioneers.toSorted()).toEqual([1, 2, 3, 4].map(domain))
  })

  it('keep the domains that try them, if another kind has no room', () => {
    const lists = ['axp', 'byq', 'xz', 'pw', 'yu', 'qv', 'ab', 'c'].map((own) => own.split(''))
    const kinds = new Map(lists.map((own, i): [Domain, string[]] => [domain(i), own]))
    const { waves } = assignWaves({
      domains: [...kinds.keys()],
      groups: [[1, 2, 3, 4, 5, 6].map(domain), [domain(0)], [domain(7)]],
      width: 6,
      amounts: [{ count: 6 }, { percent: 100 }],
      isFirst: () => false,
      kinds,
      steps: 2_000,
    })
    expectEarlyKinds(waves, kinds, new Set())
  })
})
