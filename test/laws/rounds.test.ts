// @module-tag often
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { fetchConfig, Place, resetEmulator, startService } from '../steps/cli.ts'
import { arbitraryEntries, arbitraryFleet } from './snapshots.ts'
import { isDesired, arbitraryPayload } from './values.ts'

type Config = JsonObject
type Desired = Record<string, Config>

const domains = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com']

/** Arbitrary configuration with up to five items that do not conflict. */
const config: fc.Arbitrary<Config> = arbitraryEntries([...catalogue.keys()], 5, (item) =>
  arbitraryPayload(item).map((payload) => (isDesired(item, payload) ? payload : null)),
).map((items) => Object.fromEntries(items))

const desired: fc.Arbitrary<Desired> = arbitraryFleet(domains, config, 3).map((fleet) =>
  Object.fromEntries(fleet),
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
function computeExpected(before: Config, managed: ReadonlySet<string>, items: Config): Config {
  const result = { ...before }
  for (const [item, payload] of Object.entries(items)) {
    const value = parseItem(getItemSpec(item), payload, 'manifest').value
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

  itOften('has plans of equal bytes that change nothing, and apply as saved', () =>
    fc.assert(
      fc.asyncProperty(desired, desired, (first, second) =>
        withTwoRounds(first, second, async (place) => {
          const fetchAll = () => Promise.all(domains.map((domain) => fetchConfig(emulator, domain)))
          const before = await fetchAll()
          const args = ['--out', 'plan.json', '--report', 'plan.md']
          const plan = await place.cli('plan', '--json', ...args)
          expect(await place.cli('plan', '--json')).toEqual(plan)
          expect(readFileSync(join(place.root, 'plan.json'), 'utf8')).toBe(plan.out)
          expect(`${JSON.stringify(JSON.parse(plan.out))}\n`).toBe(plan.out)
          const markdown = readFileSync(join(place.root, 'plan.md'), 'utf8')
          expect((await place.cli('plan', ...args)).out).toBe((await place.cli('plan')).out)
          expect(readFileSync(join(place.root, 'plan.md'), 'utf8')).toBe(markdown)
          expect(await fetchAll()).toEqual(before)
          const allowed = ['--allow', 'https', '--allow', 'extend']
          const saved = await place.cli('apply', 'plan.json', ...allowed)
          expect([saved.code, saved.err]).toEqual([0, expect.any(String)])
          expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
        }),
      ),
      { numRuns: runs(3, 24), endOnFailure: true },
    ),
  )
})
