import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { Chance } from '../simulation/chance.ts'
import { buildPair, type Pair } from '../trace/pairs/pair.ts'

/** A pair, and its items after one item was changed by an entry, a rule or a field. */
export interface Mutation {
  pair: Pair
  item: string
  after: Pair['items']
}

/** Changes one item of the pair of this seed; null if the change would not be valid. */
export function mutate(seed: number): Mutation | null {
  const chance = new Chance(`mutation ${seed}`)
  const pair = buildPair(seed, 'managed')
  const set = Object.keys(pair.items).filter((key) => (pair.items[key]?.[0] ?? null) !== null)
  const item = chance.pick(set)
  const before = pair.items[item]?.[0] ?? null
  const other = drawOther(item, seed)
  const raw = chance.happens(0.06) ? null : change(chance, before, other)
  if (raw === null) return { pair, item, after: { ...pair.items, [item]: [null] } }
  const { value, problems } = parseItem(getItemSpec(item), raw, 'manifest')
  const isValid = value !== null && !problems.some(({ severity }) => severity === 'error')
  if (!isValid || isSameJson(value, before)) return null
  return { pair, item, after: { ...pair.items, [item]: [value] } }
}

/** The value of this item in a pair of another seed. */
export function drawOther(item: string, seed: number): Json {
  for (let other = seed + 100_000; ; other += 1_000) {
    const [value = null] = buildPair(other, 'managed').items[item] ?? []
    if (value !== null) return value
  }
}

/** Changes an entry, a rule or a field of a value, to one of another value. */
export function change(chance: Chance, before: Json, other: Json): Json {
  if (Array.isArray(before) && Array.isArray(other)) return changeList(chance, before, other)
  if (!isObject(before) || !isObject(other)) return other
  const name = chance.pick([...new Set([...Object.keys(before), ...Object.keys(other)])])
  const [own, wanted] = [before[name], other[name]]
  if (wanted === undefined) return omit(before, name)
  if (Array.isArray(own) && Array.isArray(wanted) && own.length > 0)
    return { ...before, [name]: changeList(chance, own, wanted) }
  return { ...before, [name]: isObject(own) ? change(chance, own, wanted) : wanted }
}

function changeList(chance: Chance, list: Json[], other: Json[]): Json[] {
  const at = chance.between(0, Math.max(0, list.length - 1))
  const entry = other.length === 0 ? undefined : chance.pick(other)
  const own = list[at]
  const kind = chance.draw()
  if (entry === undefined || kind < 0.3) return list.toSpliced(at, 1)
  if (kind < 0.5) return list.toSpliced(at, 0, entry)
  if (kind < 0.6 && list.length > 1) return [...list.slice(1), ...list.slice(0, 1)]
  const isChanged = isObject(own) && isObject(entry) && kind < 0.85
  return list.with(at, isChanged ? change(chance, own, entry) : entry)
}

function omit(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}
