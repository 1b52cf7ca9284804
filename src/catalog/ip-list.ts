import type { IpBlackList } from '../generated/items.ts'
import type { Form } from '../model/change.ts'
import type { Held, ItemKey, Value, Wire } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import type { Problem } from '../model/problem.ts'
import { accepted } from './cast-accepted.ts'
import { certain, type ItemRow } from './item-spec.ts'
import { networkProblems } from './networks.ts'
import { imperative, refused } from './problems.ts'
import { sortedSet } from './value/canonical.ts'
import { canonicalAddress } from './value/formats.ts'

/**
 * IP black list and white list: each empties the other, `append` adds to what is stored, `cover`
 * replaces it (specification, "ip_black_list and ip_white_list").
 */
export function ipList(other: ItemKey): ItemRow {
  return {
    group: 'combined',
    clears: [other],
    check,
    deltas,
    joined,
    reduce,
    unset: () => ({ list: [], mode: 'cover' }),
  }
}

function check(value: Json): Problem[] {
  const { list, mode } = accepted<IpBlackList>(value)
  const problems = networkProblems('/list', list)
  if (mode === 'append') {
    if (list.length === 0)
      problems.push(
        refused('/list', 'expected at least one entry with mode "append", got an empty list'),
      )
    const mend = "Name the whole list; with a profile's list, use {$append: […]}."
    problems.push(imperative('/mode', `"append" is an action. ${mend}`))
  }
  return problems
}

function deltas(held: Held, desired: Value): Form[] {
  const before = held.status === 'unset' ? [] : entries(certain(held))
  const after = entries(desired)
  if (before === null || after === null || before.length === 0) return []
  const [had, wanted] = [new Set(before), new Set(after)]
  if (before.some((entry) => !wanted.has(entry))) return []
  return after
    .filter((entry) => !had.has(entry))
    .map((entry) => ({ name: 'append', payload: { list: [entry], mode: 'append' } }))
}

function joined(appends: Form[]): Form {
  return {
    name: 'append',
    payload: {
      list: sortedSet(appends.flatMap(({ payload }) => entries(payload) ?? [])),
      mode: 'append',
    },
  }
}

function reduce(held: Value | undefined, payload: Wire): Value | undefined {
  const added = (entries(payload) ?? []).map((entry) =>
    typeof entry === 'string' ? canonicalAddress(entry) : entry,
  )
  const appended = isObject(payload) && payload['mode'] === 'append'
  const list = sortedSet(appended ? [...(entries(held) ?? []), ...added] : added)
  return list.length === 0 ? undefined : { list, mode: 'cover' }
}

function entries(value: Value | undefined): Json[] | null {
  if (value === undefined || !isObject(value) || isSecret(value) || !Array.isArray(value['list']))
    return null
  return value['list']
}
