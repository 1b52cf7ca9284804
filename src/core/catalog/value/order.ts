import type { Json } from '../../model/json.ts'
import { getOwn, isObject, type JsonObject } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { canonicalizeBySchema, splitCanonical } from './canonical.ts'
import { chooseAlternative, findSeparator, getAnnotations, type ItemSchema } from './item-schema.ts'

interface Parent {
  schema: ItemSchema
  value: JsonObject
}

/** Tests whether a schema has, at any depth, a list whose order has no meaning. */
export function hasSet(schema: ItemSchema): boolean {
  const { set, sortBy } = getAnnotations(schema)
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  return set === true || sortBy !== undefined || parts.some(hasSet)
}

/**
 * Returns a canonical value whose sets are in the order of other values: entries in the order in
 * which these have them first, then the others in canonical order. An entry of a list of objects
 * is known by its name. The set of entries stays the same.
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
    return sortByRank(splitCanonical(chosen, value, by), known).join(by)
  }
  if (Array.isArray(value)) return orderArray(chosen, value, models)
  if (!isObject(value)) return value
  const { properties = {} } = chosen
  const ordered = Object.entries(value).map(([name, field]): [string, Json] => {
    const known = models.map((model) => (isObject(model) ? getOwn(model, name) : undefined))
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [
      name,
      own === undefined ? field : orderLike(own, field, known, { schema: chosen, value }),
    ]
  })
  return Object.fromEntries(ordered)
}

function orderArray(
  schema: ItemSchema,
  value: Json[],
  models: readonly (Json | undefined)[],
): Json[] {
  const { set, sortBy } = getAnnotations(schema)
  const { items = {} } = schema
  const lists = models.map((model) => (Array.isArray(model) ? model : []))
  if (set !== true && sortBy === undefined)
    return value.map((entry, i) =>
      orderLike(
        items,
        entry,
        lists.map((list) => list[i]),
      ),
    )
  const known = lists.flat().map((entry) => canonicalizeBySchema(items, entry))
  return sortByRank(value, known, sortBy)
}

/** Sorts entries by their places in a list; unknown ones stay behind, in their order. */
function sortByRank<T extends Json>(entries: T[], known: Json[], name?: string): T[] {
  const nameOf = (entry: Json) =>
    name !== undefined && isObject(entry)
      ? String(getOwn(entry, name))
      : typeof entry === 'string'
        ? entry
        : canonicalizeJson(entry)
  const ranks = new Map(countNames(known.map(nameOf)).map((text, i) => [text, i]))
  const placed = countNames(entries.map(nameOf)).map((text, i) => ({
    entry: entries[i] as T,
    rank: ranks.get(text) ?? Infinity,
  }))
  return placed
    .toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ entry }) => entry)
}

/** Adds its number to each name among equal ones. */
function countNames(names: string[]): string[] {
  const counts = new Map<string, number>()
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${count} ${name}`
  })
}
