import type { AddResponseHead } from '../generated/items.ts'
import { canonicalizeJson, isSameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { ItemState, Value, Wire } from '../model/item.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import { findRepeatedNames } from './header-names.ts'
import { getCertainValue, type ItemRow } from './item-spec.ts'
import { refuseAction, refuse } from './problems.ts'

/**
 * Response headers: `reset` replaces all, `add` appends and overwrites, `remove` deletes
 * (specification, "add_response_head").
 */
export const addResponseHead: ItemRow = {
  group: 'combined',
  check,
  buildDeltas,
  joinDeltas,
  reduce,
  unset: () => ({ type: 'reset', list: [] }),
}

function check(value: Json): Problem[] {
  const { type = 'reset', list } = castAccepted<AddResponseHead>(value)
  const problems: Problem[] = []
  list.forEach((entry, i) => {
    if (type === 'remove' && typeof entry !== 'string')
      problems.push(refuse(`/list/${i}`, 'with type "remove" the list holds header names only'))
    if (type !== 'remove' && typeof entry === 'string')
      problems.push(
        refuse(`/list/${i}`, `with type "${type}" the list holds objects with name and value`),
      )
  })
  if (type !== 'reset') {
    if (list.length === 0)
      problems.push(
        refuse('/list', `expected at least one header with type "${type}", got an empty list`),
      )
    const mend = 'Name all headers that the domain should have; type is then "reset".'
    problems.push(refuseAction('/type', `"${type}" is an action. ${mend}`))
  }
  const names = list.map((entry) => (typeof entry === 'string' ? entry : entry.name))
  return [...problems, ...findRepeatedNames(names, (i) => `/list/${i}`)]
}

function buildDeltas(held: ItemState, desired: Value): Form[] {
  const before = held.status === 'unset' ? [] : headers(getCertainValue(held))
  const after = headers(desired)
  // Where a name stands twice, "overwrites a same-named header" does not say which one; only the
  // whole list is sure.
  if (before === null || after === null || before.length === 0 || repeats(before) || repeats(after))
    return []
  const gone = before.filter((header) => !after.some((other) => nameOf(other) === nameOf(header)))
  const fresh = after.filter((header) => !before.some((other) => isSameJson(other, header)))
  return [
    ...gone.map((header): Form => ({
      name: 'remove',
      payload: { type: 'remove', list: [header['name'] ?? ''] },
    })),
    ...fresh.map((header): Form => ({ name: 'add', payload: { type: 'add', list: [header] } })),
  ]
}

/** Names differ, so no order of these could matter. */
function joinDeltas(parts: Form[]): Form {
  const name = parts[0]?.name ?? 'add'
  const list = parts.flatMap(({ payload }) =>
    isObject(payload) && Array.isArray(payload['list']) ? payload['list'] : [],
  )
  return {
    name,
    payload: {
      type: name,
      list: list.toSorted((a, b) => (canonicalizeJson(a) < canonicalizeJson(b) ? -1 : 1)),
    },
  }
}

function reduce(held: Value | undefined, payload: Wire): Value | undefined {
  const type = isObject(payload) ? payload['type'] : 'reset'
  const before = headers(held) ?? []
  if (type === 'remove') {
    const names =
      isObject(payload) && Array.isArray(payload['list'])
        ? payload['list'].map((name) => String(name).toLowerCase())
        : []
    return stored(before.filter((header) => !names.includes(nameOf(header))))
  }
  const given = headers(payload) ?? []
  if (type !== 'add') return stored(given)
  return stored([
    ...before.filter((header) => !given.some((other) => nameOf(other) === nameOf(header))),
    ...given,
  ])
}

function stored(list: JsonObject[]): Value | undefined {
  const sorted = list.toSorted((a, b) =>
    String(a['name']) < String(b['name']) ? -1 : String(a['name']) > String(b['name']) ? 1 : 0,
  )
  return sorted.length === 0 ? undefined : { type: 'reset', list: sorted }
}

function headers(value: Value | undefined): JsonObject[] | null {
  if (value === undefined || !isObject(value) || !Array.isArray(value['list'])) return null
  return value['list'].filter(isObject)
}

function nameOf(header: JsonObject): string {
  return String(header['name']).toLowerCase()
}

function repeats(list: JsonObject[]): boolean {
  return new Set(list.map(nameOf)).size < list.length
}
