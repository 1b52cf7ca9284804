import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/catalog/catalogue.ts'
import { parseItem } from '../../src/catalog/parse-item.ts'
import { findConflicts } from '../../src/catalog/conflicts.ts'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { fetchConfig, Place, resetEmulator, startService } from '../steps/cli.ts'
import { isDesired, arbitraryPayload } from './values.ts'

type Config = JsonObject
type Desired = Record<string, Config>

const domains = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com']

/** Arbitrary configuration with up to five items that do not conflict. */
const config: fc.Arbitrary<Config> = fc
  .uniqueArray(fc.constantFrom(...catalogue.keys()), { maxLength: 5 })
  .chain((items) =>
    fc.tuple(
      ...items.map((item) => arbitraryPayload(item).map((payload) => [item, payload] as const)),
    ),
  )
  .map((entries) => {
    const valid = entries.filter(([item, payload]) => isDesired(item, payload))
    const bad = findConflicts(new Set(valid.map(([item]) => item))).filter(
      (each) => each.severity === 'error',
    )
    return Object.fromEntries(valid.filter(([item]) => !bad.some((each) => each.item === item)))
  })

const desired: fc.Arbitrary<Desired> = fc
  .tuple(
    fc.array(config, { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(), { minLength: domains.length, maxLength: domains.length }),
  )
  .map(([kinds, choice]) =>
    Object.fromEntries(
      domains.map((domain, i) => [domain, kinds[(choice[i] ?? 0) % kinds.length] ?? {}]),
    ),
  )

let emulator: Emulator
beforeAll(async () => (emulator = await startService()))
afterAll(() => emulator.close())

async function inNewWorkspace(work: (place: Place) => Promise<void>): Promise<void> {
  await resetEmulator(emulator)
  const place = new Place(emulator.url)
  try {
    await work(place)
  } finally {
    place.remove()
  }
}

function declare(place: Place, target: Desired): void {
  for (const [domain, items] of Object.entries(target))
    place.manifest(domain, escapeReferences(items) as JsonObject)
}

/** Applies the first configuration in a new workspace, then declares the second one. */
function withTwoRounds(
  first: Desired,
  second: Desired,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  return inNewWorkspace(async (place) => {
    declare(place, first)
    await place.settle()
    declare(place, second)
    await work(place)
  })
}

function escapeReferences(value: Json): Json {
  if (typeof value === 'string') return value.split('${').join('$${')
  if (Array.isArray(value)) return value.map(escapeReferences)
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, field]) => [key, escapeReferences(field)]),
      )
    : value
}

const excludedItem: Record<string, string> = {
  ip_black_list: 'ip_white_list',
  ip_white_list: 'ip_black_list',
}

/** Computes the state of the service after an apply without `reduce`, from the specification. */
function computeExpected(
  before: Config,
  managed: ReadonlySet<string>,
  domain: string,
  items: Config,
): Config {
  const result = { ...before }
  for (const [item, payload] of Object.entries(items)) {
    const value = parseItem(getItemSpec(item), payload, 'manifest', domain).value
    const old = before[item]
    const empty =
      (Array.isArray(value) && value.length === 0) ||
      (isObject(value) && Array.isArray(value['list']) && value['list'].length === 0)
    delete result[excludedItem[item] ?? '']
    if (value === null || empty) delete result[item]
    else if (item === 'https' && isObject(value) && isObject(old ?? null))
      result[item] = { ...pick(old as JsonObject, ['http2', 'ocsp']), ...value }
    else if (item === 'visit_deny_whitelist' && !managed.has(item)) result[item] = unite(old, value)
    else result[item] = value
  }
  return result
}

function pick(from: JsonObject, names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
}

/** Unites entries: unrecorded ones can't be removed, so they stay beside the new ones. */
function unite(old: Json | undefined, value: Json): Json {
  const urls = [old, value].flatMap((list) =>
    Array.isArray(list) ? list.map((entry) => (entry as { url: string }).url) : [],
  )
  return [...new Set(urls)].toSorted().map((url) => ({ url, turn_on: true }))
}

describe('any sequence of manifests', () => {
  itOften('confirms each apply, then has an empty plan and the desired state at the service', () =>
    fc.assert(
      fc.asyncProperty(fc.array(desired, { minLength: 1, maxLength: 3 }), (rounds) =>
        inNewWorkspace(async (place) => {
          const holds = new Map<string, Config>(domains.map((domain) => [domain, {}]))
          const managed = new Map(domains.map((domain) => [domain, new Set<string>()]))
          for (const target of rounds) {
            declare(place, target)
            await place.settle()
            for (const domain of domains) {
              const items = target[domain] ?? {}
              const next = computeExpected(
                holds.get(domain) ?? {},
                managed.get(domain) ?? new Set(),
                domain,
                items,
              )
              expect([domain, await fetchConfig(emulator, domain)]).toEqual([domain, next])
              holds.set(domain, next)
              managed.set(domain, new Set(Object.keys(items)))
            }
            const listed = (await place.json('state', 'list'))['domains'] as {
              domain: string
              items: number
              inDoubt: number
            }[]
            const recorded = Object.fromEntries(
              listed.map((entry) => [entry.domain, [entry.items, entry.inDoubt]]),
            )
            const counts = Object.entries(target).flatMap(([domain, items]) => {
              const count = Object.keys(items).filter((name) => name !== 'length').length
              return count === 0 ? [] : [[domain, [count, 0]] as const]
            })
            expect(recorded).toEqual(Object.fromEntries(counts))
          }
        }),
      ),
      { numRuns: runs(3, 24), endOnFailure: true },
    ),
  )

  itOften('gives the same bytes for two plans, saved or printed; parsing inverts printing', () =>
    fc.assert(
      fc.asyncProperty(desired, desired, (first, second) =>
        withTwoRounds(first, second, async (place) => {
          const args = ['--out', 'plan.json', '--markdown', 'plan.md']
          const [plan, other] = [
            await place.cli('plan', '--json', ...args),
            await place.cli('plan', '--json'),
          ]
          expect(plan).toEqual(other)
          expect(readFileSync(join(place.root, 'plan.json'), 'utf8')).toBe(plan.out)
          expect(`${JSON.stringify(JSON.parse(plan.out))}\n`).toBe(plan.out)
          const markdown = readFileSync(join(place.root, 'plan.md'), 'utf8')
          expect((await place.cli('plan', ...args)).out).toBe((await place.cli('plan')).out)
          expect(readFileSync(join(place.root, 'plan.md'), 'utf8')).toBe(markdown)
        }),
      ),
      { numRuns: runs(3, 24), endOnFailure: true },
    ),
  )

  itOften('never changes the service by a plan; a saved plan does what a direct apply does', () =>
    fc.assert(
      fc.asyncProperty(desired, desired, (first, second) =>
        withTwoRounds(first, second, async (place) => {
          const before = await Promise.all(domains.map((domain) => fetchConfig(emulator, domain)))
          await place.cli('plan', '--out', 'plan.json')
          expect(await Promise.all(domains.map((domain) => fetchConfig(emulator, domain)))).toEqual(
            before,
          )
          const saved = await place.cli(
            'apply',
            'plan.json',
            '--allow',
            'https',
            '--allow',
            'extend',
          )
          expect([saved.code, saved.err]).toEqual([0, expect.any(String)])
          expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
        }),
      ),
      { numRuns: runs(3, 24), endOnFailure: true },
    ),
  )
})
