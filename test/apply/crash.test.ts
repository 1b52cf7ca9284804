// @module-tag often
import { describe, expect } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'
import {
  bad,
  doubt,
  good,
  notKnown,
  throttled,
  unauthorised,
  unreached,
  World,
  type Step,
} from './world.ts'
import { fc, itOften, runs, everyNth } from '../runs.ts'

const domains = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com']
const ips = (...list: string[]): Value => ({ list, mode: 'cover' })
const choices: Record<ItemKey, Value[]> = {
  timeout: [{ time: '10' }, { time: '20' }, { time: '30' }],
  ip_black_list: [ips('192.0.2.1'), ips('192.0.2.1', '192.0.2.2')],
  ip_white_list: [ips('192.0.2.7'), ips('192.0.2.8')],
  https: [
    { cert_id: 1, force_https: 0, http2: 'on', ocsp: 'off' },
    { cert_id: 2, force_https: 301, http2: 'off', ocsp: 'on' },
  ],
  visit_deny_whitelist: [
    [{ url: '/a', turn_on: true }],
    [
      { url: '/a', turn_on: true },
      { url: '/b', turn_on: true },
    ],
  ],
  speed_limit: [
    [{ type: 'all', pattern: '.*', speed: '10', begin_time: '01:00', end_time: '02:00' }],
  ],
}

type Config = Record<ItemKey, Value | null>

/** Never released, so that its other entries stay known: a write names only some entries. */
const always: ItemKey[] = ['visit_deny_whitelist']
const arbitraryConfig = anyConfig((_item, values) => fc.constantFrom(...values)) as fc.Arbitrary<
  Record<ItemKey, Value>
>
const arbitraryDesired = anyConfig((item, values) =>
  fc.constantFrom<Value | null>(
    ...values,
    ...(catalogue.get(item)?.unset === undefined ? [] : [null]),
  ),
)

function anyConfig(
  choice: (item: ItemKey, values: Value[]) => fc.Arbitrary<Value | null>,
): fc.Arbitrary<Config> {
  const items = Object.fromEntries(
    Object.entries(choices).map(([item, values]) => [item, choice(item, values)]),
  )
  return fc.record(items, { requiredKeys: always }).map((config) => withoutBothLists(config))
}

function withoutBothLists<V>(config: Record<ItemKey, V>): Record<ItemKey, V> {
  return 'ip_black_list' in config
    ? Object.fromEntries(Object.entries(config).filter(([item]) => item !== 'ip_white_list'))
    : config
}

const answer = fc.record({
  kind: fc.constantFrom(
    'good',
    'good',
    'bad',
    'not known',
    'doubt',
    'doubt',
    'throttled',
    'unreached',
    'unauthorised',
  ),
  ms: fc.integer({ min: 2, max: 3000 }),
  /** Domains at which a refused or in-doubt write is saved. */
  saved: fc.subarray(domains),
  /** Delay, ms, until an abandoned in-doubt write takes effect. */
  late: fc.option(fc.integer({ min: 1, max: 6000 }), { nil: undefined }),
})

function createStep(
  given: { kind: string; ms: number; saved: Domain[]; late: number | undefined },
  sentTo: Domain[],
): Step {
  const { kind, ms, late } = given
  const saves = sentTo.filter((domain) => given.saved.includes(domain))
  if (kind === 'good') return { outcome: good, ms }
  // "When any one is invalid, none of the items in that request is saved": certain for one domain,
  // not for several.
  if (kind === 'bad') return { outcome: bad, ms, saves: sentTo.length > 1 ? saves : [] }
  if (kind === 'not known') return { outcome: notKnown, ms }
  if (kind === 'doubt')
    return { outcome: doubt, ms, saves, ...(late === undefined ? {} : { late }) }
  return {
    outcome: kind === 'throttled' ? throttled : kind === 'unreached' ? unreached : unauthorised,
    ms,
  }
}

const story = fc.record({
  held: fc.array(arbitraryConfig, { minLength: 4, maxLength: 4 }),
  wanted: fc.array(fc.array(arbitraryDesired, { minLength: 4, maxLength: 4 }), {
    minLength: 1,
    maxLength: 2,
  }),
  answers: fc.array(answer, { minLength: 12, maxLength: 12 }),
  /** Step at which the process of each apply but the last dies. */
  deaths: fc.array(fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 60 })), {
    minLength: 2,
    maxLength: 2,
  }),
})

/**
 * Applies one configuration after another, kills the process where the story requires, and checks
 * the state each time.
 */
async function play(given: typeof story extends fc.Arbitrary<infer T> ? T : never): Promise<World> {
  const world = new World()
  for (const [i, items] of given.held.entries()) world.holds(domains[i] ?? '', items)
  for (const [n, configs] of given.wanted.entries()) {
    await applyOnce(world, configs, given.deaths[n] ?? Infinity, (call, sentTo) =>
      createStep(given.answers[(call + n) % 12] ?? (given.answers[0] as never), sentTo),
    )
    expectTrueState(world, 'as the process ended')
    if (n % 2 === 1) await world.clock.advance(100_000)
    expectTrueState(world, 'after everything landed')
  }
  return world
}

async function applyOnce(
  world: World,
  configs: Config[],
  diesAt: number,
  script: (call: number, of: Domain[]) => Step,
): Promise<void> {
  world.steps = 0
  world.diesAt = diesAt
  const work = world.start(
    world.plan(Object.fromEntries(configs.map((config, i) => [domains[i] ?? '', config])), 3),
    script,
  )
  await world.clock.drive(
    work.then(
      () => {},
      () => {},
    ),
  )
  // Calls in flight go on after the process has died, and the next process starts later.
  if (diesAt !== Infinity) await world.clock.advance(25_000)
  world.diesAt = Infinity
}

function expectTrueState(world: World, when: string): void {
  for (const domain of domains) {
    for (const item of Object.keys(choices)) {
      const value = world.truth.get(domain)?.get(item)
      if (world.allows(domain, item, value)) continue
      const [actual, recorded] = [value, world.item(domain, item)].map((each) =>
        JSON.stringify(each),
      )
      throw new Error(`${when}, ${item} of ${domain} is ${actual}, recorded is ${recorded}`)
    }
  }
}

describe('a process killed at any step', () => {
  itOften('leaves a recorded state that includes the real one', () =>
    fc.assert(
      fc.asyncProperty(story, async (given) => void (await play(given))),
      { numRuns: runs(12, 1_500) },
    ),
  )

  itOften('leaves such a state at every step of an apply with every kind of outcome', async () => {
    const from: Record<ItemKey, Value> = {
      timeout: { time: '10' },
      ip_white_list: ips('192.0.2.7'),
      visit_deny_whitelist: [{ url: '/a', turn_on: true }],
    }
    const to = (i: number): Config => ({
      timeout: { time: String(20 + i) },
      ip_black_list: ips('192.0.2.1'),
      visit_deny_whitelist: null,
    })
    const points = Array.from({ length: 60 }, (_, diesAt) => diesAt)
    for (const kind of ['good', 'bad', 'doubt', 'throttled', 'unreached', 'unauthorised']) {
      for (const diesAt of everyNth(points, 4)) {
        const world = new World()
        for (const domain of domains) world.holds(domain, from)
        await applyOnce(world, [0, 0, 1, 2].map(to), diesAt, (call, sentTo) =>
          createStep(
            { kind: call === 0 ? kind : 'good', ms: 10 + call, saved: domains, late: undefined },
            sentTo,
          ),
        )
        expectTrueState(world, `dead at ${diesAt} with ${kind}`)
        await world.clock.advance(20_000)
        expectTrueState(world, `dead at ${diesAt} with ${kind}, after everything landed`)
      }
    }
  })

  itOften('lets the next apply reach the desired state, even if the manifests were reverted', () =>
    fc.assert(
      fc.asyncProperty(story, fc.boolean(), async (given, back) => {
        const world = await play(given)
        await world.clock.advance(100_000)
        const configs = back ? given.held : (given.wanted.at(-1) ?? [])
        await applyOnce(world, configs, Infinity, () => ({ outcome: good }))
        for (const [i, config] of configs.entries()) {
          for (const [item, value] of Object.entries(config)) {
            const at = `${item} of ${domains[i]}`
            expect(world.item(domains[i] ?? '', item)?.status, at).not.toBe('in-doubt')
            if (value !== null)
              expect(world.truth.get(domains[i] ?? '')?.get(item), at).toMatchObject(
                value as object,
              )
          }
        }
        const again = world.plan(
          Object.fromEntries(configs.map((config, i) => [domains[i] ?? '', config])),
        )
        expect(again.changes, 'a second plan has nothing to do').toEqual([])
      }),
      { numRuns: runs(8, 1_000) },
    ),
  )
})
