import type { FieldName } from '../../../core/model/item.ts'
import { type Json, getOwn, isObject } from '../../../core/model/json.ts'
import { append, groupBy } from '../../../core/model/lists.ts'
import { canonicalizeJson } from '../../../core/model/text/canonical-json.ts'

/** Entries of two lists that stand for each other, by their indices. */
export interface PairedEntries {
  /** Index before and index after, in the order after. */
  pairs: [number, number][]
  removed: number[]
  added: number[]
  /** Whether paired entries have another order after than before. */
  isReordered: boolean
}

/** Maximum number of comparisons in search of similar entries. */
const maxComparisons = 2_500

/**
 * Pairs the entries of two lists: equal ones, then those of the same identity, then the most
 * similar ones, which share at least two thirds of their fields, or half without an identity. Long
 * fields are shared if they begin alike.
 */
export function pairEntries(before: Json[], after: Json[], identity: FieldName[]): PairedEntries {
  const rest = { before: [...before.keys()], after: [...after.keys()] }
  const pairs: [number, number][] = []
  const pairByKey = (getKey: (entry: Json) => string | null) => {
    const candidates = groupBy(rest.before, (i) => getKey(before[i] ?? null))
    for (const j of rest.after) {
      const key = getKey(after[j] ?? null)
      const i = key === null ? undefined : candidates.get(key)?.shift()
      if (i !== undefined) pairs.push([i, j])
    }
    dropPaired(rest, pairs)
  }
  pairByKey(canonicalizeJson)
  if (identity.length > 0) pairByKey((entry) => getIdentity(entry, identity))
  const share = identity.length > 0 ? 2 / 3 : 1 / 2
  append(pairs, pairSimilar(before, after, rest, share))
  dropPaired(rest, pairs)
  const inOrder = pairs.toSorted(([, a], [, b]) => a - b)
  return {
    pairs: inOrder,
    removed: rest.before,
    added: rest.after,
    isReordered: inOrder.some(([i], n) => i < (inOrder[n - 1]?.[0] ?? -1)),
  }
}

interface Rest {
  before: number[]
  after: number[]
}

function dropPaired(rest: Rest, pairs: [number, number][]): void {
  const [left, right] = [new Set(pairs.map(([i]) => i)), new Set(pairs.map(([, j]) => j))]
  rest.before = rest.before.filter((i) => !left.has(i))
  rest.after = rest.after.filter((j) => !right.has(j))
}

function getIdentity(entry: Json, identity: FieldName[]): string | null {
  if (!isObject(entry) || !identity.some((field) => Object.hasOwn(entry, field))) return null
  return canonicalizeJson(identity.map((field) => getOwn(entry, field) ?? null))
}

function pairSimilar(before: Json[], after: Json[], rest: Rest, share: number): [number, number][] {
  const comparisons = rest.before.length * rest.after.length
  if (comparisons === 0 || comparisons > maxComparisons) return []
  const right = rest.after.map((j) => ({ j, b: listLeaves(after[j] ?? null) }))
  const candidates = rest.before.flatMap((i) => {
    const a = listLeaves(before[i] ?? null)
    return right.flatMap(({ j, b }) => {
      const isShared = (leaf: string) =>
        b.some((other) =>
          leaf.length > 100 ? other.startsWith(leaf.slice(0, 40)) : other === leaf,
        )
      const shared = a.filter(isShared).length
      const isSimilar = shared > 0 && shared >= share * Math.max(a.length, b.length)
      return isSimilar ? [{ i, j, shared }] : []
    })
  })
  const pairs: [number, number][] = []
  for (const { i, j } of candidates.toSorted((a, b) => b.shared - a.shared))
    if (!pairs.some(([x, y]) => x === i || y === j)) pairs.push([i, j])
  return pairs
}

/** Lists the fields of an entry at any depth, each as path and value. */
function listLeaves(entry: Json): string[] {
  if (!isObject(entry)) return []
  return Object.entries(entry).flatMap(([field, value]) =>
    isObject(value)
      ? listLeaves(value).map((leaf) => `${field}.${leaf}`)
      : [`${field}=${canonicalizeJson(value)}`],
  )
}
