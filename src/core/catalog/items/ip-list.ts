import type { IpBlackList } from '../generated/items.ts'
import type { Form } from '../../model/change.ts'
import type { ItemState, ItemKey, Value, Wire } from '../../model/item.ts'
import { isObject, type Json } from '../../model/json.ts'
import { isSecret } from '../../model/secret.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, getCertainValue, type ItemRow } from '../item-spec.ts'
import { checkNetworks } from '../networks.ts'
import { describeAction, describeRefusal } from '../problems.ts'
import { sortUnique } from '../value/canonical.ts'
import { canonicalizeAddress } from '../value/formats.ts'

/**
 * IP black list and white list: each empties the other, `append` adds to the stored list, `cover`
 * replaces it (specification, "ip_black_list and ip_white_list").
 */
export function createIpList(other: ItemKey): ItemRow {
  return {
    group: 'combined',
    clearedItems: [other],
    check,
    buildDeltas,
    deltaForms: ['append'],
    joinDeltas,
    reduce,
    unset: () => ({ list: [], mode: 'cover' }),
  }
}

function check(value: Json): Problem[] {
  const { list, mode } = castPlain<IpBlackList>(value)
  const problems = checkNetworks('/list', list)
  if (mode === 'append') {
    if (list.length === 0)
      problems.push(
        describeRefusal(
          '/list',
          'expected at least one entry with mode "append", got an empty list',
        ),
      )
    const remedy = 'List all entries; to extend the list of a profile, use {$append: […]}.'
    problems.push(describeAction('/mode', `"append" is an action. ${remedy}`))
  }
  return problems
}

function buildDeltas(state: ItemState, desired: Value): Form[] {
  const before = state.status === 'unset' ? [] : listEntries(getCertainValue(state))
  const after = listEntries(desired)
  if (before === null || after === null || before.length === 0) return []
  const [stored, desiredEntries] = [new Set(before), new Set(after)]
  if (before.some((entry) => !desiredEntries.has(entry))) return []
  return after
    .filter((entry) => !stored.has(entry))
    .map((entry) => ({ name: 'append', payload: { list: [entry], mode: 'append' } }))
}

function joinDeltas(appends: Form[]): Form {
  return {
    name: 'append',
    payload: {
      list: sortUnique(appends.flatMap(({ payload }) => listEntries(payload) ?? [])),
      mode: 'append',
    },
  }
}

function reduce(state: Value | undefined, payload: Wire): Value {
  const added = (listEntries(payload) ?? []).map((entry) =>
    typeof entry === 'string' ? canonicalizeAddress(entry) : entry,
  )
  const isAppend = isObject(payload) && payload['mode'] === 'append'
  const list = sortUnique(isAppend ? [...(listEntries(state) ?? []), ...added] : added)
  return { list, mode: 'cover' }
}

function listEntries(value: Value | undefined): Json[] | null {
  if (value === undefined || !isObject(value) || isSecret(value) || !Array.isArray(value['list']))
    return null
  return value['list']
}
