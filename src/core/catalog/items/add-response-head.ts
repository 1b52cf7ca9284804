import type { AddResponseHead } from '../generated/items.ts'
import { type ItemRow, castPlain, getCertainValue } from '../item-spec.ts'
import { type Observation, observeEntries, omitFields } from '../observation.ts'
import { findRepeatedNames, describeRefusal, describeAction } from '../problems.ts'
import type { Form } from '../../model/change.ts'
import type { ItemState, Value, Wire } from '../../model/item.ts'
import { type Json, type JsonObject, isObject, isSameJson, toList } from '../../model/json.ts'
import { compare } from '../../model/lists.ts'
import type { Problem } from '../../model/problem.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'

/**
 * Response headers: `reset` replaces all, `add` appends and overwrites, `remove` deletes
 * (specification, "add_response_head").
 */
export const addResponseHead: ItemRow = {
  group: 'combined',
  identity: ['name'],
  check,
  buildDeltas,
  deltaForms: ['add', 'remove'],
  joinDeltas,
  reduce,
  unset: () => ({ type: 'reset', list: [] }),
  observe,
}

/** A query shows headers with two fields that no write has. */
function observe(_known: Value | undefined, observed: Json): Observation {
  if (!isObject(observed)) return { payload: observed }
  const { payload: list } = observeEntries(observed['list'] ?? null, (header) => ({
    payload: omitFields(header, ['cover', 'only_hit']),
  }))
  return { payload: 'list' in observed ? { ...observed, list } : observed }
}

function check(value: Json): Problem[] {
  const { type = 'reset', list } = castPlain<AddResponseHead>(value)
  const problems: Problem[] = []
  list.forEach((entry, i) => {
    if (type === 'remove' && typeof entry !== 'string')
      problems.push(
        describeRefusal(`/list/${i}`, 'with type "remove" the list must contain header names only'),
      )
    if (type !== 'remove' && typeof entry === 'string')
      problems.push(
        describeRefusal(
          `/list/${i}`,
          `with type "${type}" the list must contain objects with name and value`,
        ),
      )
  })
  if (type !== 'reset') {
    if (list.length === 0)
      problems.push(
        describeRefusal(
          '/list',
          `expected at least one header with type "${type}", got an empty list`,
        ),
      )
    const remedy = 'List all headers that the domain should have, with type "reset".'
    problems.push(describeAction('/type', `"${type}" is an action. ${remedy}`))
  }
  const names = list.map((entry) => (typeof entry === 'string' ? entry : entry.name))
  return [...problems, ...findRepeatedNames(names, (i) => `/list/${i}`)]
}

function buildDeltas(state: ItemState, desired: Value): Form[] {
  const before = state.status === 'unset' ? [] : listHeaders(getCertainValue(state))
  const after = listHeaders(desired)
  // The specification does not define which duplicate "overwrites a same-named header" means, so
  // duplicates need the whole list.
  if (
    before === null ||
    after === null ||
    before.length === 0 ||
    hasDuplicates(before) ||
    hasDuplicates(after)
  )
    return []
  const removed = before.filter(
    (header) => !after.some((other) => getName(other) === getName(header)),
  )
  const added = after.filter((header) => !before.some((other) => isSameJson(other, header)))
  return [
    ...removed.map((header): Form => ({
      name: 'remove',
      payload: { type: 'remove', list: [header['name'] ?? ''] },
    })),
    ...added.map((header): Form => ({ name: 'add', payload: { type: 'add', list: [header] } })),
  ]
}

/** Joins deltas. Their names differ, so their order does not matter. */
function joinDeltas(parts: Form[]): Form {
  const name = parts[0]?.name ?? 'add'
  const list = parts.flatMap(({ payload }) => listSent(payload))
  return {
    name,
    payload: {
      type: name,
      list: list.toSorted((a, b) => (canonicalizeJson(a) < canonicalizeJson(b) ? -1 : 1)),
    },
  }
}

function listSent(payload: Wire): Json[] {
  return isObject(payload) ? toList(payload['list']) : []
}

function reduce(state: Value | undefined, payload: Wire): Value {
  const type = isObject(payload) ? payload['type'] : 'reset'
  const before = listHeaders(state) ?? []
  if (type === 'remove') {
    const names = listSent(payload).map((name) => String(name).toLowerCase())
    return toStored(before.filter((header) => !names.includes(getName(header))))
  }
  const sent = listHeaders(payload) ?? []
  if (type !== 'add') return toStored(sent)
  return toStored([
    ...before.filter((header) => !sent.some((other) => getName(other) === getName(header))),
    ...sent,
  ])
}

function toStored(list: JsonObject[]): Value {
  const sorted = list.toSorted((a, b) => compare(String(a['name']), String(b['name'])))
  return { type: 'reset', list: sorted }
}

function listHeaders(value: Value | undefined): JsonObject[] | null {
  if (value === undefined || !isObject(value) || !Array.isArray(value['list'])) return null
  return value['list'].filter(isObject)
}

function getName(header: JsonObject): string {
  return String(header['name']).toLowerCase()
}

function hasDuplicates(list: JsonObject[]): boolean {
  return new Set(list.map(getName)).size < list.length
}
