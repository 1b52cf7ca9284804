import { isObject, isSameJson, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import { readings } from '../../../src/core/trace/readings.ts'
import type { Chance } from '../../simulation/chance.ts'
import { createDraft } from './draft.ts'
import { buildPair, type Pair } from './pair.ts'
import { drawSettings, zones } from './readings.ts'

/** A pair of which more is known. */
type Step = (pair: Pair) => Pair

/**
 * Lists ways to know one thing more about a pair: facts, candidates, items and answers to readings,
 * each drawn by chance.
 *
 * @param missing names of facts that may not occur in other requests, as reasons have them
 */
export function listSteps(pair: Pair, chance: Chance, missing: readonly string[]): Step[] {
  const donor = buildPair(chance.between(0, 2 ** 31), 'managed')
  const zone = chance.fork('zone').pick(zones)
  return [
    ...listFactSteps(pair, chance, donor, missing),
    ...listItemSteps(pair, chance, donor),
    ...listReadingSteps(pair, chance),
    ...(pair.timezone === undefined ? [(each: Pair) => ({ ...each, timezone: zone })] : []),
  ]
}

/** Takes all steps: all facts, one candidate of each item, and nearly all readings are known. */
export function learnAll(pair: Pair, chance: Chance, missing: readonly string[]): Pair {
  const known = listSteps(pair, chance, missing).reduce((each, take) => take(each), pair)
  return settleItems(known, chance)
}

/** Chooses a world: an answer to nearly every open reading, and one candidate of each item. */
export function chooseWorld(pair: Pair, chance: Chance): Pair {
  const settled = listReadingSteps(pair, chance).reduce((each, take) => take(each), pair)
  return settleItems(settled, chance)
}

function settleItems(pair: Pair, chance: Chance): Pair {
  const entries = Object.entries(pair.items)
  const items = entries.map(([name, list]) => [name, [chance.fork(`item ${name}`).pick(list)]])
  return { ...pair, items: Object.fromEntries(items) as Pair['items'] }
}

const facts = ['method', 'ip', 'country', 'isp', 'at', 'bodySize']

function listFactSteps(
  { request, assume }: Pair,
  chance: Chance,
  donor: Pair,
  missing: readonly string[],
): Step[] {
  const give = (name: string, value: Json): Step[] =>
    Object.hasOwn(request, name) ? [] : [(pair) => setFact(pair, [], name, value)]
  const [headers, origin] = [['headers'], ['origin', 'headers']].map((path) =>
    listHeaderSteps(request, path, chance, donor, missing),
  )
  const answer = readObject(request, ['origin'])
  const part = (name: string, value: Json): Step[] =>
    Object.hasOwn(answer, name) ? [] : [(pair) => setFact(pair, ['origin'], name, value)]
  const secrets = readObject(request, ['secrets'])
  const newSecrets = Object.entries(readObject(donor.request, ['secrets'])).filter(
    ([name]) => !Object.hasOwn(secrets, name),
  )
  return [
    ...facts.flatMap((name) => give(name, donor.request[name] ?? usual[name] ?? null)),
    // Without it, the time of day is that of `at`.
    ...(Object.hasOwn(request, 'at') ? [] : give('time', donor.request['time'] ?? '12:00')),
    // What the URL says about the signature, if it is read, must not be contradicted.
    ...(assume['R34'] === 'plain' ? [] : give('signature', chance.pick(['valid', 'invalid']))),
    ...newSecrets.map(([name, text]): Step => {
      return (pair) => setFact(pair, ['secrets'], name, text)
    }),
    ...(headers ?? []),
    ...(origin ?? []),
    ...part('status', chance.pick([200, 206, 301, 404, 410, 500, 503])),
    ...part('size', chance.pick([0, 500, 1010, 5000, 10_000_000])),
  ]
}

const usual: JsonObject = {
  method: 'GET',
  ip: '10.1.2.3',
  country: 'china',
  isp: 'dx',
  at: 1_700_000_000,
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
  const { unmanaged = 'unknown' } = assume
  const replace = (name: string, list: Json[]): Step => {
    return (pair) => ({ ...pair, items: { ...pair.items, [name]: list } })
  }
  return Object.entries(donor.items).flatMap(([name, [value = null]]): Step[] => {
    const candidates = items[name]
    if (candidates === undefined) {
      const isAbsent = Array.isArray(unmanaged) ? unmanaged.includes(name) : unmanaged === 'absent'
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

/** Settles open readings, but the form of signatures if it is known whether this one is right. */
function listReadingSteps({ assume, preset, request }: Pair, chance: Chance): Step[] {
  const drawn = drawAnswers(chance)
  const isOpen = ({ name, favoured, usual: answer }: (typeof readings)[number]) =>
    Object.hasOwn(assume, name)
      ? assume[name] === 'unspecified'
      : favoured === null && (preset === 'strict' || answer === null)
  return readings
    .filter(isOpen)
    .filter(({ name }) => name !== 'R34' || request['signature'] === undefined)
    .filter(({ name }) => Object.hasOwn(drawn, name))
    .map(({ name }): Step => (pair) => ({
      ...pair,
      assume: { ...pair.assume, [name]: drawn[name] ?? null },
    }))
}

/** Draws an answer to nearly every reading. */
function drawAnswers(chance: Chance): JsonObject {
  const tries = ['a', 'b', 'c'].flatMap((name) =>
    Object.entries(drawSettings(createDraft(chance.fork(name)), 1, [])),
  )
  const isAnswer = ([name, answer]: [string, Json]) =>
    name !== 'unmanaged' && answer !== 'unspecified'
  return Object.fromEntries(tries.filter(isAnswer))
}
