import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseBenchArgs } from '../../tools/bench/arguments.ts'
import { buildManifest } from '../../tools/bench/fleet.ts'
import { findWorse, keepRatios } from '../../tools/bench/kept-ratios.ts'
import { findMemoryAt } from '../../tools/bench/measure-apply.ts'
import { computeExponent } from '../../tools/bench/measure-scaling.ts'
import { compareCosts, measureInTurn } from '../../tools/bench/measure.ts'
import {
  chooseBetter,
  createUnmeasuredRow,
  formatRows,
  isMissed,
  judge,
  type Row,
} from '../../tools/bench/row.ts'
import { countPlain, loadInstances } from '../../tools/bench/writes.ts'

const row = (own: Partial<Row>): Row => ({
  id: 'plan',
  what: 'plan / yaml',
  unit: 's',
  measured: 1,
  base: 2,
  ratio: 0.5,
  goal: 0.5,
  ...own,
})
const unmeasured = createUnmeasuredRow('start', 'start, Node 24', 2.5, 'not installed')
const cost = (cpu: number) => ({ cpu, wall: 2 * cpu, output: '' })

describe('a row', () => {
  it('meets its goal with the ratio, or with the figure if it has no ratio', () => {
    expect(judge(row({}))).toBe('met')
    expect(judge(row({ ratio: 0.51 }))).toBe('short')
    expect(judge(row({ ratio: null, goal: 1 }))).toBe('met')
    expect(judge(row({ ratio: null }))).toBe('short')
    expect(judge(row({ goal: null }))).toBe('-')
  })

  it('misses its goal if it was not measured', () => {
    expect(judge(unmeasured)).toBe('not measured')
    expect(isMissed(unmeasured)).toBe(true)
    expect(isMissed(row({}))).toBe(false)
  })

  it('is short if the figure is not a number', () => {
    expect(judge(row({ ratio: NaN }))).toBe('short')
  })

  it('is the better one of two tries', () => {
    const [first, second] = [row({ ratio: 0.6 }), row({ ratio: 0.4 })]
    expect(chooseBetter([first, unmeasured], [second])).toEqual([second, unmeasured])
    expect(chooseBetter([second], [first])).toEqual([second])
  })

  it('stands in a Markdown table, with its note below', () => {
    const size = row({ what: 'size', unit: 'MB', measured: 5.4321, base: null, ratio: null })
    expect(formatRows([row({}), { ...size, goal: 6 }, unmeasured])).toBe(
      [
        '| figure         | measured | base | ratio |   goal | result       |',
        '|----------------|---------:|-----:|------:|-------:|--------------|',
        '| plan / yaml    |      1 s |  2 s | 0.500 |  ≤ 0.5 | met          |',
        '| size           |  5.43 MB |      |       | ≤ 6 MB | met          |',
        '| start, Node 24 |          |      |       |  ≤ 2.5 | not measured |',
        '',
        'start, Node 24: not installed',
      ].join('\n'),
    )
  })
})

describe('kept ratios', () => {
  const kept = keepRatios({ '24': { plan: 0.4 } }, 20, [row({ ratio: 0.12345 }), unmeasured])

  it('are kept for each version of Node', () => {
    expect(kept).toEqual({ '20': { plan: 0.123 }, '24': { plan: 0.4 } })
  })

  it('fail a ratio that is worse by more than half', () => {
    expect(findWorse(kept, 24, [row({ ratio: 0.6 })])).toEqual([])
    expect(findWorse(kept, 24, [row({ ratio: 0.61 })])).toEqual([
      'plan / yaml: ratio 0.610, more than 1.5 times the kept 0.4 of Node 24',
    ])
  })

  it('are those of the nearest version of Node if there are none of its own', () => {
    expect(findWorse(kept, 26, [row({ ratio: 0.5 })])).toEqual([])
    expect(findWorse(kept, 21, [row({ ratio: 0.5 })])).toHaveLength(1)
  })

  it('fail a ratio that is not kept or not measured', () => {
    expect(findWorse(kept, 20, [row({ id: 'new' })])).toEqual(['plan / yaml: no ratio is kept'])
    expect(findWorse(kept, 20, [unmeasured])).toEqual(['start, Node 24: not measured'])
    expect(findWorse({}, 20, [row({})])).toEqual(['no ratios are kept'])
  })
})

describe('the exponent', () => {
  const grow = (power: number) =>
    [100, 1000, 10_000, 100_000].map((size) => ({ size, seconds: size ** power / 1e6 }))

  it('is the power with which the time grows', () => {
    expect(computeExponent(grow(1))).toBeCloseTo(1)
    expect(computeExponent(grow(2).toReversed())).toBeCloseTo(2)
  })

  it('is that of the two largest decades', () => {
    const [, ...large] = grow(1.2)
    expect(computeExponent([{ size: 100, seconds: 50 }, ...large])).toBeCloseTo(1.2)
  })

  it('needs two sizes', () => {
    expect(() => computeExponent(grow(1).slice(3))).toThrow('two sizes')
  })
})

describe('a measurement', () => {
  it('takes turns, and compares the costs of each round', () => {
    const order: string[] = []
    const work = (name: string, factor: number) => (round: number) => {
      order.push(`${name}${round}`)
      return cost(factor * (round + 1))
    }
    const costs = measureInTurn({ base: work('b', 1), plan: work('p', 3) }, 3)
    expect(order).toEqual(['b0', 'p0', 'b1', 'p1', 'b2', 'p2'])
    expect(compareCosts(costs.plan, costs.base)).toEqual({ measured: 6, base: 2, ratio: 3 })
    expect(compareCosts(costs.plan, costs.base, 'wall').measured).toBe(12)
  })

  it('finds the memory when a share of the writes is confirmed', () => {
    const samples = Array.from({ length: 100 }, (_, ms) => ({ ms, mb: ms < 50 ? 10 : 20 }))
    const confirmedAt = Array.from({ length: 100 }, (_, ms) => ms)
    expect(findMemoryAt(samples, confirmedAt, 0.5)).toBe(10)
    expect(findMemoryAt(samples, confirmedAt, 1)).toBe(20)
    expect(findMemoryAt([], confirmedAt, 1)).toBeNaN()
  })

  it('uses manifests of 600 bytes', () => {
    for (const i of [0, 9, 99_999]) expect(Buffer.byteLength(buildManifest(i, i))).toBe(600)
  })
})

describe('its options', () => {
  it('allow --json without a file', () => {
    expect(parseBenchArgs(['--json'], ['a'])).toMatchObject({ json: '-', only: ['a'] })
    expect(parseBenchArgs(['--json', '--small'], [])).toMatchObject({ json: '-', small: true })
    expect(parseBenchArgs(['--json', 'x.json'], [])).toMatchObject({ json: 'x.json' })
    expect(parseBenchArgs([], [])).toMatchObject({ json: null })
  })

  it('refuse unknown groups, and --keep without --small', () => {
    expect(parseBenchArgs(['--only', 'b'], ['a', 'b']).only).toEqual(['b'])
    expect(() => parseBenchArgs(['--only', 'c'], ['a', 'b'])).toThrow('expected groups of a, b')
    expect(() => parseBenchArgs(['--keep'], [])).toThrow('--small')
    expect(() => parseBenchArgs(['--domains', '0'], [])).toThrow('from 1, got "0"')
  })

  it('name studies only with --only', () => {
    expect(parseBenchArgs([], ['a'], ['s'])).toMatchObject({ only: ['a'], rollouts: null })
    const args = ['--only', 's', '--unseen', '10,20', '--skip-greedy']
    expect(parseBenchArgs(args, ['a'], ['s'])).toMatchObject({
      only: ['s'],
      unseen: [10, 20],
      skipGreedy: true,
    })
  })
})

it('README and concepts have the calls of simpler plans for the 16 mixes', () => {
  const load = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const instances = loadInstances()
  const sum = (count: (each: (typeof instances)[number]) => number) =>
    instances.reduce((total, each) => total + count(each), 0).toLocaleString('en')
  const figures = {
    single: sum(({ needs }) => needs.flat().length),
    equal: sum(({ equalPatchGrouping }) => equalPatchGrouping),
    item: sum(({ itemByItem }) => itemByItem),
    plain: sum(countPlain),
  }
  const [readme = '', concepts = ''] = ['README.md', 'docs/concepts.md'].map((path) =>
    load(path).replaceAll(/\s+/g, ' '),
  )
  const { single, equal, item, plain } = figures
  expect(readme).toContain(`takes ${single} calls`)
  expect(readme).toContain(`takes ${plain} calls`)
  expect(concepts).toContain(`takes ${single} calls, domains with equal changes together ${equal},`)
  expect(concepts).toContain(`one item per write ${item}, the better of both for each mix ${plain}`)
})
