import type { HeadControl } from '../generated/items.ts'
import type { Value } from '../../model/item.ts'
import { isObject, type Json, type JsonObject, toList } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import {
  fillHidden,
  findKnownEntry,
  observeEntries,
  omitFields,
  type Observation,
} from '../observation.ts'
import { describeMissingField } from '../problems.ts'

const identity = ['head_direction', 'head_op', 'head', 'regex']

/** Header rules for each direction (specification, "head_control"). */
export const headControl: ItemRow = {
  identity,
  check: (value) => castPlain<HeadControl>(value).list.flatMap(checkRule),
  /** Drops the value of deleted headers, which is ignored. */
  tidy: (value) => {
    if (!isObject(value) || !Array.isArray(value['list'])) return value
    return {
      ...value,
      list: value['list'].map((rule) =>
        isObject(rule) && rule['head_op'] === 'DEL' ? omitFields(rule, ['value']) : rule,
      ),
    }
  },
  unset: () => ({ list: [] }),
  observe,
}

/** A query shows `head` as `key`, no `order`, and a field that no write has. */
function observe(known: Value | undefined, observed: Json): Observation {
  if (!isObject(observed) || !Array.isArray(observed['list'])) return { payload: observed }
  const knownList = known !== undefined && isObject(known) ? known['list'] : undefined
  const { payload: list, notVerifiable = [] } = observeEntries(observed['list'], (shown, i) => {
    const rule = restoreName(omitFields(shown, ['fun_name']))
    return fillHidden(findKnownEntry(knownList, rule, i, identity), rule, ['order'])
  })
  return {
    payload: { ...observed, list },
    notVerifiable: notVerifiable.map((pointer) => `/list${pointer}`),
  }
}

/** Lists the rules of a value that have no order. */
export function listUnordered(value: Json): JsonObject[] {
  const list = isObject(value) ? value['list'] : null
  const rules = toList(list).filter(isObject)
  return rules.filter((rule) => !Object.hasOwn(rule, 'order'))
}

/** Gives each rule without an order its place in the list, from 1. */
export function numberRules(value: Json): Json {
  if (!isObject(value) || !Array.isArray(value['list'])) return value
  const list = value['list'].map((rule, i) => (isObject(rule) ? { order: i + 1, ...rule } : rule))
  return { ...value, list }
}

function restoreName(rule: JsonObject): JsonObject {
  const { key, ...rest } = rule
  return key === undefined ? rule : { head: key, ...rest }
}

function checkRule({ head_op, value = '' }: HeadControl['list'][number], i: number): Problem[] {
  if (head_op === 'DEL' || value !== '') return []
  return [
    describeMissingField(`/list/${i}`, `with head_op "${head_op}" the field "value" is required`),
  ]
}
