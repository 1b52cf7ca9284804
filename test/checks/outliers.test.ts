import { describe, expect, it } from 'vitest'
import { type Outlier, findOutliers } from '../../src/core/checks/outliers.ts'
import type { ItemState } from '../../src/core/model/item.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { itLong } from '../runs.ts'

type Config = Record<string, JsonObject[string]>

const state = (value: JsonObject[string]): ItemState =>
  value === 'unset'
    ? { status: 'unset', candidates: [] }
    : { status: 'confirmed', candidates: [value ?? null] }

/** Finds the outliers of domains `d0`, `d1` … with these configurations. */
function find(
  configs: Config[],
  profiles: (index: number) => string[] = () => [],
  change: (states: ItemState[]) => void = () => {},
): { lines: string[]; outliers: Outlier[] } {
  const desired = new Map(
    configs.map((config, i) => [
      `d${i}`,
      new Map(Object.entries(config).map(([item, value]) => [item, state(value)])),
    ]),
  )
  change([...desired.values()].flatMap((items) => [...items.values()]))
  const outliers = findOutliers(desired, (domain) => profiles(Number(domain.slice(1))))
  const lines = outliers.map(
    ({ alike, size, item, pointer, usual, domains }) =>
      `${alike.by === 'profile' ? alike.profile : '-'} ${size - domains.length}/${size} ` +
      `${item}${pointer === null ? '' : `:${pointer}`} ${usual} | ` +
      domains.map(({ domain, value }) => `${domain} ${value}`).join(', '),
  )
  return { lines, outliers }
}

const make = (count: number, config: (i: number) => Config) =>
  Array.from({ length: count }, (_, i) => config(i))
const drag = (i: number): Config => ({
  https: { cert_id: 1 },
  ...(i < 2 ? {} : { drag: { on: 1 } }),
})

describe('findOutliers', () => {
  it('finds an item that few domains of a profile lack, or alone have', () => {
    expect(find(make(300, drag), () => ['video']).lines).toEqual([
      'video 298/300 drag "set" | d0 null, d1 null',
    ])
    const others = make(300, (i) => (i === 7 ? drag(7) : drag(0)))
    expect(find(others, () => ['video']).lines).toEqual(['video 299/300 drag null | d7 "set"'])
  })

  it('finds it without a profile too', () => {
    expect(find(make(300, drag)).lines).toEqual(['- 298/300 drag "set" | d0 null, d1 null'])
  })

  it('compares fields among the domains that set the item', () => {
    const config = (i: number): Config =>
      i % 2 === 0 ? {} : { https: i === 9 ? { cert_id: 1 } : { cert_id: 1, http2: 'on' } }
    expect(find(make(60, config), () => ['p']).lines).toEqual([
      'p 29/30 https:/http2 "on" | d9 null',
    ])
  })

  it('compares the whole of a list, and $unset with a value', () => {
    const list = (i: number): Config => ({ rules: i === 3 ? [{ p: 2 }] : [{ p: 1 }] })
    expect(find(make(40, list)).lines).toEqual(['- 39/40 rules: [{"p":1}] | d3 [{"p":2}]'])
    const unset = (i: number): Config => ({ rules: i === 3 ? 'unset' : [{ p: i }] })
    expect(find(make(40, unset)).lines).toEqual(['- 39/40 rules "set" | d3 "$unset"'])
  })

  it.each([
    [9, 1, 0],
    [10, 1, 1],
    [10, 2, 0],
    [39, 2, 0],
    [40, 2, 1],
    [300, 15, 1],
    [300, 16, 0],
    [300, 0, 0],
  ])('of %i domains, of which %i differ: %i', (count, differing, found) => {
    const config = (i: number): Config => ({ timeout: { time: i < differing ? 1 : 2 } })
    expect(find(make(count, config)).lines).toHaveLength(found)
  })

  it('skips values that all differ, names of domains and secrets', () => {
    const config = (i: number): Config => ({
      origin: { default_master: `192.0.2.${i}`, host: `d${i}.origin.example` },
      signed: { key: { $secret: `scrypt:${i}` } },
    })
    expect(find(make(100, config)).lines).toEqual([])
    const odd = (i: number): Config =>
      i === 5
        ? { ...config(i), origin: { default_master: 'x', host: 'd4.origin.example' } }
        : config(i)
    expect(find(make(100, odd)).lines).toEqual([
      '- 99/100 origin:/host "${domain}.origin.example" | d5 "d4.origin.example"',
    ])
  })

  it('never has a secret, nor what looks like one', () => {
    const header = (value: string) => [{ head_name: 'Authorization', head_value: value }]
    const config = (i: number): Config => ({
      add_back_source_head: header(i === 1 ? 'Bearer c2VjcmV0LW9uZQ' : 'Bearer c2VjcmV0LXR3bw'),
      signed: { key: i === 2 ? 'plain' : { $secret: 'scrypt:one' } },
    })
    const { outliers } = find(make(50, config))
    expect(JSON.stringify(outliers)).not.toMatch(/c2Vj|scrypt/)
    const few = (i: number): Config => ({
      add_back_source_head: i < 2 ? header('Bearer c2VjcmV0LXR3bw') : [{ head_name: 'X-A' }],
    })
    expect(find(make(50, few)).lines).toEqual([])
    expect(outliers).toMatchObject([{ item: 'signed', usual: '"(secret)"' }])
  })

  it('does not compare values that are not known for sure, or not shown', () => {
    const config = (i: number): Config => ({ rules: [{ p: i < 2 ? 2 : 1 }] })
    const unsure = (item: ItemState): void => {
      item.status = 'in-doubt'
    }
    expect(
      find(make(48, config), undefined, (items) => items.slice(0, 2).forEach(unsure)).lines,
    ).toEqual([])
  })

  it('lists the smallest share first, and each difference once', () => {
    const config = (i: number): Config => ({
      a: { x: i < 3 ? 1 : 2 },
      b: { x: i === 5 ? 1 : 2 },
      c: { x: i === 250 ? 1 : 2 },
    })
    const configs = make(300, config)
    expect(find(configs, (i) => (i < 200 ? ['base', 'video'] : ['base'])).lines).toEqual([
      'base 299/300 b:/x 2 | d5 1',
      'base 299/300 c:/x 2 | d250 1',
      'base 297/300 a:/x 2 | d0 1, d1 1, d2 1',
    ])
  })

  it('does not depend on the order of domains and items', () => {
    const config = (i: number): Config => ({ a: { x: i < 3 ? 1 : 2 }, b: { y: i === 5 ? 1 : 2 } })
    const desired = make(100, config).map((each, i) => [`d${i}`, each] as const)
    const build = (entries: typeof desired, reverse: boolean) =>
      new Map(
        entries.map(([name, each]) => {
          const items = Object.entries(each).map(([key, value]) => [key, state(value)] as const)
          return [name, new Map(reverse ? items.toReversed() : items)]
        }),
      )
    const find2 = (map: ReturnType<typeof build>) => findOutliers(map, () => ['p'])
    expect(find2(build(desired.toReversed(), true))).toEqual(find2(build(desired, false)))
  })

  itLong('takes seconds for 10,000 domains that all differ', () => {
    const items = Array.from({ length: 15 }, (_, k) => `item${k}`)
    const configs = make(10_000, (i) =>
      Object.fromEntries(items.map((item, k) => [item, { a: i % 300 === k ? 1 : 2, b: i }])),
    )
    const start = process.cpuUsage()
    expect(find(configs, () => ['base', 'video']).lines).toHaveLength(15)
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(30)
  })
})
