import { expect } from 'vitest'
import type { Witness } from '../../src/core/effects/witness/find-witness.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Pair } from '../trace/pairs/pair.ts'
import { interpret } from '../trace/second/interpret.ts'

type Items = Pair['items']

/** The value of an answer by the second interpreter, as comparison reads it. */
function readSecond(
  pair: Pair,
  items: Items,
  request: JsonObject,
  field: string,
): Json | undefined {
  const output = JSON.parse(JSON.stringify(interpret({ ...pair, items, request }))) as JsonObject
  const outcome = isObject(output['outcome'] ?? null) ? (output['outcome'] as JsonObject) : {}
  const [stage = '', name = '', ...rest] = field.split('.')
  const isLate = ['cache', 'origin', 'response'].includes(stage)
  const isOfAny = field === 'response.status' || field === 'response.location'
  if (isLate && !isOfAny && 'value' in outcome && outcome['value'] !== 'served') return null
  let answer: Json | undefined = output[stage]
  if (name === 'checks') {
    const checks = (answer as JsonObject)['checks'] as JsonObject[]
    answer = checks.find(({ item }) => item === rest[0])?.['result']
  } else if (name !== '') answer = (answer as JsonObject)[name === 'weights' ? 'main' : name]
  if (name === 'headers') answer = (answer as JsonObject)[rest.join('.')]
  if (!isObject(answer ?? null)) return undefined
  const value = (answer as JsonObject)['value']
  if (field === 'origin.main' || field === 'origin.weights')
    return (value as JsonObject[] | null)?.map(
      (each) => each[name === 'main' ? 'address' : 'weight'] ?? null,
    )
  if (field === 'origin.rewrite' && isObject(value))
    return { item: value['item'] ?? null, pattern: value['pattern'] ?? null }
  return value
}

/** Fails unless the witness differs in the same way when the second interpreter traces it. */
export function confirm(
  pair: Pair,
  after: Items,
  { deltas, request }: Extract<Witness, { kind: 'request' }>,
) {
  const differing = deltas.filter(({ verdict }) => verdict === 'differs')
  expect(differing.length).toBeGreaterThan(0)
  for (const { field, before, after: changed } of differing) {
    const values = [pair.items, after].map((items) => readSecond(pair, items, request, field))
    for (const [i, answer] of [before, changed].entries())
      if (values[i] !== undefined) expect({ field, value: values[i] }).toEqual({ field, ...answer })
  }
}
