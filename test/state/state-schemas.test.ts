import { describe, expect, it } from 'vitest'
import * as compiled from '../../src/core/model/generated/state-validators.ts'
import { resolvePointer, type Json } from '../../src/core/model/json.ts'
import { checkStored, type Checked } from '../../src/core/model/text/stored-file.ts'
import {
  excludes,
  fileKinds,
  buildSample,
  findSchemaFaults,
  replaceAt,
  stateSchemas,
  listTypes,
} from './state-schemas.ts'

const values: Json[] = [null, true, 7, -1, 0.5, 'x', [], {}]

/** The program's check of each file; null if it ignores invalid parts or never loads the file. */
const checks: Record<string, ((data: Json) => Checked<unknown>) | null> = {
  domain: (data) => checkStored(data, compiled.domainFile),
  journal: (data) => checkStored(data, compiled.journalFile),
  moved: (data) => checkStored(data, compiled.movedFile),
  pruned: (data) => checkStored(data, compiled.prunedFile),
  batch: (data) => checkStored(data, compiled.batchFile),
  doubt: (data) => checkStored(data, compiled.doubtFile),
  rollout: (data) => checkStored(data, compiled.rolloutFile),
  outcomes: (data) => checkStored(data, compiled.outcomesFile),
  salt: (data) => checkStored(data, compiled.saltFile),
  restraints: (data) => checkStored(data, compiled.restraintsFile),
  traffic: (data) => checkStored(data, compiled.trafficFile),
  stop: (data) => checkStored(data, compiled.stopFile),
  log: (data) => checkStored(data, compiled.logFile),
  chain: (data) => checkStored(data, compiled.chainFile),
  head: (data) => checkStored(data, compiled.headFile),
  unlock: (data) => checkStored(data, compiled.unlockFile),
  plan: (data) => checkStored(data, compiled.planFile),
  address: null,
  calls: null,
  lock: null,
  open: null,
}

/**
 * Checks whether the schema accepts a value. The validator of the program has to agree, and its
 * fault has to name the place.
 */
function accepts(name: string, value: Json, pointer: string): boolean {
  const accepted = findSchemaFaults(name, value).length === 0
  const checked = checks[name]?.(value)
  if (checked === undefined) return accepted
  expect([pointer, 'value' in checked]).toEqual([pointer, accepted])
  if ('fault' in checked)
    expect(checked.fault).toContain(pointer === '/format' ? 'expected the format' : pointer)
  return accepted
}

it('every schema of a file has a name, a description and its check', () => {
  expect(Object.keys(checks).toSorted()).toEqual(fileKinds.toSorted())
  for (const name of fileKinds) {
    const { $id, title, description } = stateSchemas.get(name) ?? {}
    expect($id).toBe(`https://edgewise.invalid/schemas/state/${name}.schema.json`)
    expect([typeof title, typeof description]).toEqual(['string', 'string'])
  }
})

describe.each(fileKinds)('the schema %s', (name) => {
  const { whole, places } = buildSample(name)

  it('accepts a file with all its keys and an unknown one, unless it is a stop', () => {
    expect(findSchemaFaults(name, whole)).toEqual([])
    expect(accepts(name, whole, '')).toBe(true)
    expect(accepts(name, replaceAt(whole, '/later', 'added'), '')).toBe(name !== 'stop')
  })

  it('refuses a file that lacks a required key', () => {
    const required = places.filter((place) => place.required)
    expect(required.length).toBeGreaterThanOrEqual(2)
    for (const { pointer } of required)
      expect([pointer, accepts(name, replaceAt(whole, pointer, undefined), pointer)]).toEqual([
        pointer,
        false,
      ])
  })

  it('accepts a file that lacks an optional key', () => {
    for (const { pointer } of places.filter(({ required }) => !required)) {
      if (pointer.endsWith('/0')) continue
      expect([pointer, accepts(name, replaceAt(whole, pointer, undefined), pointer)]).toEqual([
        pointer,
        true,
      ])
    }
  })

  it.each(places)('refuses another type at $pointer, unless any type is allowed', (place) => {
    const { pointer, schema } = place
    const wrong = values.filter((value) => excludes(schema, value))
    const free = ['const', 'anyOf'].every((key) => schema[key] === undefined)
    if (free && listTypes(schema).length === 0)
      expect(schema['description']).toContain('Any JSON value')
    else expect(wrong.length).toBeGreaterThanOrEqual(5)
    for (const value of values) {
      const accepted = accepts(name, replaceAt(whole, pointer, value), pointer)
      if (wrong.includes(value)) expect([value, accepted]).toEqual([value, false])
    }
  })
})

it.each<[string, string, (data: unknown) => boolean]>([
  ['address', '', (data) => compiled.isAddressFile(data)],
  ['calls', '/calls/0', (data) => compiled.isCall(data)],
])('the validator of %s%s agrees with the schema', (name, part, validate) => {
  const { whole, places } = buildSample(name)
  const own = places.filter(({ pointer }) => pointer.startsWith(`${part}/`))
  expect(own.length).toBeGreaterThanOrEqual(2)
  expect(validate(resolvePointer(whole, part))).toBe(true)
  for (const { pointer } of own)
    for (const value of [undefined, ...values]) {
      const changed = replaceAt(whole, pointer, value)
      expect([pointer, value, validate(resolvePointer(changed, part))]).toEqual([
        pointer,
        value,
        accepts(name, changed, pointer),
      ])
    }
})
