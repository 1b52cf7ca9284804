import type { HeadControl } from '../generated/items.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { refuseMissingField } from './problems.ts'

/** Header rules for each direction (specification, "head_control"). */
export const headControl: ItemRow = {
  check: (value: Json) => castAccepted<HeadControl>(value).list.flatMap(ruleProblems),
  /** A value is ignored where the header is deleted. */
  tidy: (value: Json) => {
    if (!isObject(value) || !Array.isArray(value['list'])) return value
    return {
      ...value,
      list: value['list'].map((rule) =>
        isObject(rule) && rule['head_op'] === 'DEL' ? without(rule, 'value') : rule,
      ),
    }
  },
  isEmpty: (value) => isObject(value) && Array.isArray(value['list']) && value['list'].length === 0,
  unset: () => ({ list: [] }),
}

function ruleProblems({ head_op, value = '' }: HeadControl['list'][number], i: number): Problem[] {
  if (head_op === 'DEL' || value !== '') return []
  return [
    refuseMissingField(`/list/${i}`, `with head_op "${head_op}" the field "value" is required`),
  ]
}

function without(rule: Record<string, Json>, field: string): Json {
  return Object.fromEntries(Object.entries(rule).filter(([key]) => key !== field))
}
