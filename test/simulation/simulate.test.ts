import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { Chance } from './chance.ts'
import { mutations } from './mutations.ts'
import { runSealed } from './seal.ts'
import { simulate } from './simulate.ts'
import { itemKeys, Workload } from './workload.ts'
import { World } from './world.ts'
import { itLong } from '../runs.ts'

describe('a simulation', () => {
  const first = new Map<number, Awaited<ReturnType<typeof simulate>>>()
  beforeAll(async () => {
    for (const seed of [1, 2, 3, 4, 6]) first.set(seed, await simulate(seed))
  })

  it('holds all laws', () => {
    for (const [seed, { violations }] of first) expect(violations, `seed ${seed}`).toEqual([])
  })

  itLong('holds all laws while a log ends between its line and its sync', async () => {
    expect((await simulate(76, 'folder')).violations).toEqual([])
  })

  it.each([3, 6])('replays exactly, and differs for another seed: %i', async (seed) => {
    const { trace } = await simulate(seed)
    expect(trace.join('\n')).toBe(first.get(seed)?.trace.join('\n'))
    expect(trace).not.toEqual(first.get(4)?.trace)
  })

  it('keeps the history whole where a batch was stored although its answer was lost', async () => {
    expect((await simulate(704_502)).violations).toEqual([])
  })

  it('has its state in a database for some seeds', () => {
    expect(first.get(6)?.counts.get('record: postgres')).toBe(1)
  })

  it('reaches nothing real', async () => {
    const { setTimeout: realTimer, Date: RealDate } = globalThis
    const real: [string, () => unknown][] = [
      ['setTimeout', () => setTimeout(() => {}, 0)],
      ['new Date()', () => new Date()],
      ['Math.random', () => Math.random()],
      ['fetch', () => fetch('http://127.0.0.1:9/')],
      ['AbortSignal.timeout', () => AbortSignal.timeout(1)],
      ['performance.now', () => performance.now()],
      ['process.hrtime', () => process.hrtime()],
      ['randomUUID', () => randomUUID()],
      ['readFileSync', () => readFileSync('/dev/null')],
      ['createConnection', () => createConnection(9)],
      ['execFileSync', () => execFileSync('true')],
    ]
    for (const [name, use] of real) {
      const world = new World()
      await expect(runSealed(world, async () => use())).rejects.toThrow(
        `a simulation may not use ${name}`,
      )
      expect(world.violations).toHaveLength(1)
    }
    const world = new World()
    expect(await runSealed(world, async () => Date.now())).toBe(world.time)
    expect(globalThis.setTimeout).toBe(realTimer)
    expect(globalThis.Date).toBe(RealDate)
  })
})

describe('a simulation that takes longer than its test may', () => {
  const { setTimeout: realTimer } = globalThis
  class SlowWorld extends World {
    protected override async settle(): Promise<void> {
      await super.settle()
      await new Promise((resolve) => {
        realTimer(resolve, 1)
      })
    }
  }
  const world = new SlowWorld()
  let left: Promise<void> | null = null

  it.fails('fails it', async () => {
    const goOn = () => world.after(1, goOn)
    goOn()
    left = runSealed(world, () => world.passUntil(new Promise(() => {}), Infinity))
    left.catch(() => {})
    await left
  }, 20)

  it('ends with it, and seals nothing that comes after it', async () => {
    expect(globalThis.setTimeout).toBe(realTimer)
    await expect(left).rejects.toThrow('expected a simulation that ends with its test')
    expect(globalThis.setTimeout).toBe(realTimer)
  })
})

itLong('generated manifests are valid', () => {
  for (let seed = 0; seed < 30; seed++) {
    const workload = new Workload(new Chance(`${seed}`))
    workload.edit()
    for (const items of workload.desired().values()) {
      for (const [item, { candidates }] of items) {
        const spec = getItemSpec(item)
        for (const value of candidates)
          expect(
            parseItem(spec, value, 'manifest').problems.filter(
              ({ severity }) => severity === 'error',
            ),
          ).toEqual([])
        if (candidates.length === 0) expect(spec.unset).toBeDefined()
      }
    }
  }
  expect(itemKeys.every((item) => catalogue.has(item))).toBe(true)
})

it.each(mutations)('the snippet of a mutation occurs once: $name', ({ file, find, replace }) => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(text.split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
})
