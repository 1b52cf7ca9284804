import { getOwn, isObject, toList, type Json, type JsonObject } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { canonicalizeBySchema, splitCanonical } from './canonical.ts'
import {
  chooseAlternative,
  findSeparator,
  getAnnotations,
  hasAnnotation,
  type ItemSchema,
  type Parent,
} from './item-schema.ts'

/** Tests whether a schema has, at any depth, a list whose order has no meaning. */
export function hasSet(schema: ItemSchema): boolean {
  return hasAnnotation(schema, ({ set, sortBy }) => set === true || sortBy !== undefined)
}

/**
 * Returns a canonical value whose sets are in the order of other values: entries in the order in
 * which these have them first, then the others in canonical order. An entry of a list of objects
 * is known by its name. The set of entries stays the same. Returns the same value if it has that
 * order.
 *
 * @param models valid values of the schema, in any form
 */
export function orderLike(
  schema: ItemSchema,
  value: Json,
  models: readonly (Json | undefined)[],
  parent?: Parent,
): Json {
  const chosen = chooseAlternative(schema, value)
  if (typeof value === 'string') {
    const by = getAnnotations(chosen).set === true ? findSeparator(chosen, parent) : null
    if (by === null) return value
    const known = models.flatMap((model) =>
      typeof model === 'string' ? splitCanonical(chosen, model, by) : [],
    )
    return sortByRank(splitCanonical(chosen, value, by), known, (entry) => getName(entry)).join(by)
  }
  if (Array.isArray(value)) return orderArray(chosen, value, models)
  if (!isObject(value)) return value
  const { properties = {} } = chosen
  let ordered: JsonObject | null = null
  for (const [name, own] of Object.entries(properties)) {
    const field = getOwn(value, name)
    if (field === undefined || !isNested(own)) continue
    const known = models.map((model) => (isObject(model) ? getOwn(model, name) : undefined))
    const next = orderLike(own, field, known, { schema: chosen, value })
    if (next !== field) ordered = { ...(ordered ?? value), [name]: next }
  }
  return ordered ?? value
}

/** Tests whether a field may be a set, or have one. */
function isNested(schema: ItemSchema): boolean {
  const { type = 'object' } = schema
  return getAnnotations(schema).set === true || type === 'array' || type === 'object'
}

function orderArray(
  schema: ItemSchema,
  value: Json[],
  models: readonly (Json | undefined)[],
): Json[] {
  const { set, sortBy } = getAnnotations(schema)
  const { items = {} } = schema
  const lists = models.map((model) => toList(model))
  if (sortBy !== undefined)
    return sortByRank(value, lists.flat(), (entry) => getName(entry, sortBy))
  if (set === true) {
    const known = lists.flat().map((entry) => canonicalizeBySchema(items, entry))
    return sortByRank(value, known, (entry) => getName(entry))
  }
  const ordered = value.map((entry, i) =>
    orderLike(
      items,
      entry,
      lists.map((list) => list[i]),
    ),
  )
  return ordered.some((entry, i) => entry !== value[i]) ? ordered : value
}

function getName(entry: Json, field?: string): string {
  if (typeof entry === 'string') return entry
  const name = field !== undefined && isObject(entry) ? getOwn(entry, field) : undefined
  return typeof name === 'string' ? name : canonicalizeJson(entry)
}

/**
 * Sorts entries by their places in a list; unknown ones stay behind, in their order. Returns the
 * same list if it is sorted already.
 */
function sortByRank<T extends Json>(
  entries: T[],
  known: Json[],
  name: (entry: Json) => string,
): T[] {
  const ranks = new Map(countNames(known.map(name)).map((text, i) => [text, i]))
  const own = countNames(entries.map(name)).map((text) => ranks.get(text) ?? Infinity)
  if (own.every((rank, i) => i === 0 || (own[i - 1] ?? 0) <= rank)) return entries
  return entries
    .map((entry, i) => ({ entry, rank: own[i] ?? Infinity }))
    .toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ entry }) => entry)
}

/** Adds its number to each name among equal ones. */
function countNames(names: string[]): string[] {
  if (new Set(names).size === names.length) return names
  const counts = new Map<string, number>()
  return names.map((name) => {
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return count === 0 ? name : `${name} ${count}`
  })
}
