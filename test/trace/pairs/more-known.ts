import { isObject, isSameJson, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import type { Chance } from '../../simulation/chance.ts'
import { buildPair, type Pair } from './pair.ts'

/** A pair of which more is known. */
type Step = (pair: Pair) => Pair

/**
 * Lists ways to know one thing more about a pair: facts, candidates and items, drawn by chance.
 *
 * @param missing names of facts that may not occur in other requests, as reasons have them
 */
export function listSteps(pair: Pair, chance: Chance, missing: readonly string[]): Step[] {
  const donor = buildPair(chance.between(0, 2 ** 31), 'managed')
  return [...listFactSteps(pair, chance, donor, missing), ...listItemSteps(pair, chance, donor)]
}

/** Takes all steps: all facts and one candidate of each item are known. */
export function learnAll(pair: Pair, chance: Chance, missing: readonly string[]): Pair {
  const known = listSteps(pair, chance, missing).reduce((each, take) => take(each), pair)
  return chooseWorld(known, chance)
}

/** Chooses a world: one candidate of each item. */
export function chooseWorld(pair: Pair, chance: Chance): Pair {
  const entries = Object.entries(pair.items)
  const items = entries.map(([name, list]) => [name, [chance.fork(`item ${name}`).pick(list)]])
  return { ...pair, items: Object.fromEntries(items) as Pair['items'] }
}

function listFactSteps(
  { request, visitor }: Pair,
  chance: Chance,
  donor: Pair,
  missing: readonly string[],
): Step[] {
  const give = (name: string, value: Json): Step[] =>
    Object.hasOwn(request, name) ? [] : [(pair) => setFact(pair, [], name, value)]
  const lists = [['headers'], ['origin', 'headers']].map((path) =>
    listHeaderSteps(request, path, chance, donor, missing),
  )
  const [headers = [], origin = []] = lists
  const answer = readObject(request, ['origin'])
  const part = (name: string, value: Json): Step[] =>
    Object.hasOwn(answer, name) ? [] : [(pair) => setFact(pair, ['origin'], name, value)]
  const secrets = readObject(request, ['secrets'])
  const newSecrets = Object.entries(readObject(donor.request, ['secrets'])).filter(
    ([name]) => !Object.hasOwn(secrets, name),
  )
  const always = [
    ...give('at', donor.request['at'] ?? 1_700_000_000),
    // Without it, the time of day is that of `at`.
    ...(Object.hasOwn(request, 'at') ? [] : give('time', donor.request['time'] ?? '12:00')),
    ...give('signature', chance.pick(['valid', 'invalid'])),
    ...newSecrets.map(([name, text]): Step => {
      return (pair) => setFact(pair, ['secrets'], name, text)
    }),
    ...part('size', chance.pick([0, 500, 1010, 5000, 10_000_000])),
  ]
  // All else is given of a usual visitor.
  if (visitor === 'usual') return always
  return [
    ...always,
    ...Object.entries(usual).flatMap(([name, value]) => give(name, donor.request[name] ?? value)),
    ...headers,
    ...origin,
    ...part('status', chance.pick([200, 206, 301, 404, 410, 500, 503])),
  ]
}

const usual: JsonObject = {
  method: 'GET',
  ip: '10.1.2.3',
  country: 'china',
  isp: 'dx',
  bodySize: 5_000_000,
}

/** Gives headers that are not given, as text or absent, and last says that there are no others. */
function listHeaderSteps(
  request: JsonObject,
  path: string[],
  chance: Chance,
  donor: Pair,
  missing: readonly string[],
): Step[] {
  const given = readObject(request, path)
  if (Object.hasOwn(given, '*')) return []
  const prefix = `not-given ${path.join('.')}.`
  const asked = missing.filter((reason) => reason.startsWith(prefix))
  const drawn = readObject(donor.request, path)
  const names = [...Object.keys(drawn), ...asked.map((reason) => reason.slice(prefix.length))]
  const lower = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  return [...new Set(names), '*']
    .filter((name) => !lower.has(name))
    .map((name): Step => {
      const other = chance.fork(`header ${name}`).pick([null, '', 'a', 'gzip, br', '10.1.2.3'])
      const value = name === '*' ? null : (drawn[name] ?? other)
      return (pair) => setFact(pair, path, name, value)
    })
}

/** The object at a path of the request; an empty one if there is none. */
function readObject(request: JsonObject, path: string[]): JsonObject {
  return path.reduce<JsonObject>((object, name) => {
    const inner = object[name]
    return isObject(inner) ? inner : {}
  }, request)
}

function setFact(pair: Pair, path: string[], name: string, value: Json): Pair {
  const set = (object: JsonObject, [step, ...rest]: string[]): JsonObject =>
    step === undefined
      ? { ...object, [name]: value }
      : { ...object, [step]: set(readObject(object, [step]), rest) }
  return { ...pair, request: set(pair.request, path) }
}

function listItemSteps({ items, assume }: Pair, chance: Chance, donor: Pair): Step[] {
  const { unmanaged = 'absent' } = assume
  const replace = (name: string, list: Json[]): Step => {
    return (pair) => ({ ...pair, items: { ...pair.items, [name]: list } })
  }
  return Object.entries(donor.items).flatMap(([name, [value = null]]): Step[] => {
    const candidates = items[name]
    if (candidates === undefined) {
      const isAbsent = Array.isArray(unmanaged) ? !unmanaged.includes(name) : unmanaged === 'absent'
      return isAbsent ? [] : [replace(name, [value])]
    }
    const dropped = chance.fork(`candidate ${name}`).between(0, candidates.length - 1)
    // An unknown candidate is any value.
    const known = candidates.map((each) => (isSameJson(each, { $unknown: true }) ? value : each))
    return [
      ...(candidates.length > 1 ? [replace(name, candidates.toSpliced(dropped, 1))] : []),
      ...(isSameJson(known, candidates) ? [] : [replace(name, known)]),
    ]
  })
}
