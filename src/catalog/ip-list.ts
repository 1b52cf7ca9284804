import type { IpBlackList } from '../generated/items.ts'
import type { Form } from '../model/change.ts'
import type { ItemState, ItemKey, Value, Wire } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import { getCertainValue, type ItemRow } from './item-spec.ts'
import { checkNetworks } from './networks.ts'
import { refuseAction, refuse } from './problems.ts'
import { sortUnique } from './value/canonical.ts'
import { canonicalizeAddress } from './value/formats.ts'

/**
 * IP black list and white list: each empties the other, `append` adds to what is stored, `cover`
 * replaces it (specification, "ip_black_list and ip_white_list").
 */
export function createIpList(other: ItemKey): ItemRow {
  return {
    group: 'combined',
    clearedItems: [other],
    check,
    buildDeltas,
    joinDeltas,
    reduce,
    unset: () => ({ list: [], mode: 'cover' }),
  }
}

function check(value: Json): Problem[] {
  const { list, mode } = castAccepted<IpBlackList>(value)
  const problems = checkNetworks('/list', list)
  if (mode === 'append') {
    if (list.length === 0)
      problems.push(
        refuse('/list', 'expected at least one entry with mode "append", got an empty list'),
      )
    const mend = "Name the whole list; with a profile's list, use {$append: […]}."
    problems.push(refuseAction('/mode', `"append" is an action. ${mend}`))
  }
  return problems
}

function buildDeltas(held: ItemState, desired: Value): Form[] {
  const before = held.status === 'unset' ? [] : entries(getCertainValue(held))
  const after = entries(desired)
  if (before === null || after === null || before.length === 0) return []
  const [had, wanted] = [new Set(before), new Set(after)]
  if (before.some((entry) => !wanted.has(entry))) return []
  return after
    .filter((entry) => !had.has(entry))
    .map((entry) => ({ name: 'append', payload: { list: [entry], mode: 'append' } }))
}

function joinDeltas(appends: Form[]): Form {
  return {
    name: 'append',
    payload: {
      list: sortUnique(appends.flatMap(({ payload }) => entries(payload) ?? [])),
      mode: 'append',
    },
  }
}

function reduce(held: Value | undefined, payload: Wire): Value | undefined {
  const added = (entries(payload) ?? []).map((entry) =>
    typeof entry === 'string' ? canonicalizeAddress(entry) : entry,
  )
  const appended = isObject(payload) && payload['mode'] === 'append'
  const list = sortUnique(appended ? [...(entries(held) ?? []), ...added] : added)
  return list.length === 0 ? undefined : { list, mode: 'cover' }
}

function entries(value: Value | undefined): Json[] | null {
  if (value === undefined || !isObject(value) || isSecret(value) || !Array.isArray(value['list']))
    return null
  return value['list']
}
