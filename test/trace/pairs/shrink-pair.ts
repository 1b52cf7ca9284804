import { getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../../src/core/catalog/parse-item.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import type { Pair } from './pair.ts'

/**
 * Removes items, list entries, candidates, facts and settings as long as the predicate holds of
 * what is left. Items become absent first, then unmanaged. The values stay valid.
 */
export function shrinkPair(pair: Pair, stillFails: (pair: Pair) => boolean): Pair {
  let smallest = pair
  for (;;) {
    const before = smallest
    for (const list of [listItemCuts, listSettingCuts, listCandidateCuts, listFactCuts])
      smallest = takeCuts(smallest, list, stillFails)
    if (smallest === before) return smallest
  }
}

/** A smaller pair; null if the cut leads to none. */
type Cut = () => Pair | null

/** Tries each cut of a pair once, the same place again after a success. */
function takeCuts(
  pair: Pair,
  listCuts: (pair: Pair) => Cut[],
  stillFails: (pair: Pair) => boolean,
): Pair {
  let smallest = pair
  let cuts = listCuts(pair)
  for (let i = 0; i < cuts.length;) {
    const next = cuts[i]?.() ?? null
    if (next !== null && stillFails(next)) {
      smallest = next
      cuts = listCuts(next)
    } else i++
  }
  return smallest
}

/** Lists parts of a list: halves, quarters and so on, down to single entries. */
function listParts<T>(list: T[]): T[][] {
  const parts: T[][] = []
  for (let size = list.length; size > 0; size = Math.floor(size / 2)) {
    for (let i = 0; i < list.length; i += size) parts.push(list.slice(i, i + size))
  }
  return parts
}

function omit<T>(record: Record<string, T>, names: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}

function listItemCuts(pair: Pair): Cut[] {
  const { items } = pair
  const isAbsent = (name: string) => isSameJson(items[name] ?? [], [null])
  const names = Object.keys(items)
  const absent = (part: string[]) => Object.fromEntries(part.map((name) => [name, [null]]))
  return [
    ...listParts(names.filter((name) => !isAbsent(name))).map((part) => () => ({
      ...pair,
      items: { ...items, ...absent(part) },
    })),
    ...listParts(names).map((part) => () => ({ ...pair, items: omit(items, part) })),
  ]
}

function listSettingCuts(pair: Pair): Cut[] {
  const { timezone, ...rest } = pair
  return [
    ...listParts(Object.keys(pair.assume)).map((part) => () => ({
      ...pair,
      assume: omit(pair.assume, part),
    })),
    () => (timezone === undefined ? null : rest),
  ]
}

function listCandidateCuts(pair: Pair): Cut[] {
  return Object.entries(pair.items).flatMap(([name, candidates]) => {
    const replace = (list: Json[]): Pair => ({ ...pair, items: { ...pair.items, [name]: list } })
    const dropped = candidates.length < 2 ? [] : candidates
    return [
      ...dropped.map((_, i) => () => replace(candidates.toSpliced(i, 1))),
      ...candidates.flatMap((candidate, i) =>
        listSmaller(candidate).map((raw) => () => {
          const value = reduceToValid(name, candidate, raw)
          return value === null ? null : replace(candidates.with(i, value))
        }),
      ),
    ]
  })
}

/** Returns the canonical form of a value that is valid and shorter than the one before. */
function reduceToValid(name: string, before: Json, raw: Json): Json {
  if (isObject(before) && before['$unknown'] === true) return null
  const { value } = parseItem(getItemSpec(name), raw, 'manifest')
  return value !== null && measure(value) < measure(before) ? value : null
}

function measure(value: Json): number {
  return JSON.stringify(value).length
}

/** Lists forms of a value with one entry, one field or one part of a text less. */
function listSmaller(value: Json): Json[] {
  if (typeof value === 'string') return listShorterTexts(value)
  if (Array.isArray(value)) {
    return [
      ...listParts(value).map((part) => value.filter((entry) => !part.includes(entry))),
      ...value.flatMap((entry, i) => listSmaller(entry).map((less) => value.with(i, less))),
    ]
  }
  if (!isObject(value)) return []
  return [
    ...Object.keys(value).map((name): JsonObject => omit(value, [name])),
    ...Object.entries(value).flatMap(([name, field]) =>
      listSmaller(field).map((less) => ({ ...value, [name]: less })),
    ),
  ]
}

/** Lists texts without one of the parts between separators. */
function listShorterTexts(text: string): string[] {
  return [',', '\n', ' '].flatMap((separator) => {
    const parts = text.split(separator)
    return parts.length < 2 ? [] : parts.map((_, i) => parts.toSpliced(i, 1).join(separator))
  })
}

function listFactCuts(pair: Pair): Cut[] {
  const { url = null, ...facts } = pair.request
  const urls = typeof url === 'string' ? listShorterUrls(url) : []
  return [
    ...urls.map((shorter) => () => ({ ...pair, request: { url: shorter, ...facts } })),
    ...listSmaller(facts).map(
      (less) => () => (isObject(less) ? { ...pair, request: { url, ...less } } : null),
    ),
  ]
}

/** Lists URLs without fragment, query, one of its arguments, or one segment of the path. */
function listShorterUrls(url: string): string[] {
  const match = /^([^/]+:\/\/[^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url)
  if (match === null) return []
  const [, start = '', path = '', query = '', fragment = ''] = match
  const segments = path.split('/').slice(1)
  const names = query === '' ? [] : query.slice(1).split('&')
  const shorter = [
    start + path + query,
    start + path,
    ...names.map((_, i) => `${start}${path}?${names.toSpliced(i, 1).join('&')}${fragment}`),
    ...segments.map((_, i) => `${start}/${segments.toSpliced(i, 1).join('/')}${query}${fragment}`),
  ]
  return shorter.filter((each) => each.length < url.length)
}
