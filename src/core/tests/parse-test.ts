import { catalogue } from '../catalog/catalogue.ts'
import { createTestValidator } from '../catalog/generated/schema-validators.ts'
import { getField, type ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { describeSchemaErrors } from '../catalog/value/schema-problems.ts'
import { parseEntry } from '../effects/requests/parse-requests.ts'
import { findGlobFault } from '../model/text/domain-glob.ts'
import { formatPointerStep, isObject, type Json, type JsonObject, toList } from '../model/json.ts'
import type { SchemaValidator } from '../model/text/schema-fault.ts'
import { parseRequest } from '../trace/request.ts'
import { BadRequest, parseUrl } from '../trace/url.ts'
import { parseFieldName } from './fields.ts'
import { testSchema } from './generated/test-schema.ts'
import type { ItemCheck, RequestCheck, TestCase, TestFile } from './test-case.ts'

/** Reports a problem at a pointer of the document; with `key` the key is wrong, not its value. */
export type Report = (pointer: string, detail: string, part?: 'key') => void

let validate: SchemaValidator | undefined

/** Parses a document as a test; null if it has a problem, all of which are reported. */
export function parseTest(value: Json, report: Report): TestCase | null {
  let isValid = true
  const fail: Report = (...problem) => {
    isValid = false
    report(...problem)
  }
  validate ??= createTestValidator()
  if (!validate(value))
    for (const { pointer, detail, code } of describeSchemaErrors(
      validate.errors ?? [],
      testSchema as ItemSchema,
      value,
    ))
      fail(pointer, detail, code === 'unknown-field' ? 'key' : undefined)
  const test = isObject(value) ? value : {}
  const { items, requests, domains, given, plan, emulator, expect } = test
  const all = [items, requests, plan, emulator, expect].filter((each) => each !== undefined)
  if (isValid && all.length === 0)
    fail('/test', 'this test expects nothing. Add requests, items, plan, emulator or expect.')
  if (domains !== undefined && given !== undefined)
    fail('/given', 'expected "domains" or "given", got both', 'key')
  if (isValid && (domains ?? given ?? requests) === undefined)
    fail('/test', 'expected "domains", globs of the tested domains, or "given", got neither')
  for (const [i, glob] of toList(domains).entries()) {
    const fault = typeof glob === 'string' ? findGlobFault(glob) : null
    if (fault !== null) fail(`/domains/${i}`, fault)
  }
  const { writes = {}, actions }: Partial<JsonObject> = isObject(plan) ? plan : {}
  const isEmpty = isObject(writes) && Object.keys(writes).length === 0
  const isNothing = isObject(plan) && isEmpty && actions === undefined && expect === undefined
  if (isNothing) fail('/plan', 'expected "writes" or "actions", what the plan must have', 'key')
  const parts = listEntries(items).flatMap((entry) => parseItem(entry, fail))
  const traces = toList(requests).flatMap((entry, i) => {
    const pointer = `/requests/${i}`
    if (expect === undefined && isObject(entry) && !Object.hasOwn(entry, 'expect'))
      fail(pointer, 'the field "expect" is required here, or below "test"')
    return parseTrace(entry, pointer, fail)
  })
  return isValid ? { ...(value as unknown as TestFile), parts, traces } : null
}

function listEntries(value: Json | undefined): [string, Json][] {
  return Object.entries(isObject(value) ? value : {})
}

function parseItem([name, expected]: [string, Json], fail: Report): ItemCheck[] {
  const pointer = `/items${formatPointerStep(name)}`
  const [item = '', ...steps] = name.split('/')
  const spec = catalogue.get(item)
  const unknown = `there is no item "${item.slice(0, 80)}".${didYouMean(item, catalogue.keys())}`
  const fault = spec === undefined ? unknown : findPartFault(spec.schema, steps)
  if (fault !== null) fail(pointer, fault, 'key')
  return [{ pointer, name, item, part: name.slice(item.length), expected }]
}

/** Explains why an item has no such part; null if it may have. */
function findPartFault(schema: ItemSchema, [step, ...rest]: string[]): string | null {
  const { properties, items, oneOf } = schema
  if (step === undefined || oneOf !== undefined) return null
  const field = getField(schema, step)
  if (field !== undefined) return findPartFault(field, rest)
  if (items !== undefined && /^\d{1,6}$/.test(step)) return findPartFault(items, rest)
  const known = Object.keys(properties ?? {})
  const hint = didYouMean(step, known) || (known.length > 0 ? ` It has ${known.join(', ')}.` : '')
  const what = items === undefined ? 'field' : 'entry, which are numbered from 0,'
  return `there is no ${what} "${step.slice(0, 80)}" here.${hint}`
}

function parseTrace(value: Json, pointer: string, fail: Report): RequestCheck[] {
  if (!isObject(value)) return []
  const { expect, ...rest } = value
  const entry = parseEntry(rest, '')
  if ('fault' in entry) {
    fail(pointer, entry.fault)
    return []
  }
  const { request } = entry
  const answers = listEntries(expect).flatMap(([name, expected]) => {
    const at = `${pointer}/expect${formatPointerStep(name)}`
    const asked = parseFieldName(name)
    if ('fault' in asked) fail(at, asked.fault, 'key')
    const fault = findExpectationFault(expected)
    if (fault !== null) fail(at, fault)
    return 'fault' in asked ? [] : [{ pointer: at, name, asked, expected }]
  })
  const url = String(request['url'])
  try {
    parseRequest(request, parseUrl(url, null).host)
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    const fact = /^\w+/.exec(error.message)?.[0] ?? ''
    const isUnknown = error.message.endsWith('is not a fact of a request')
    const at = Object.hasOwn(request, fact) ? fact : 'url'
    // An unknown key has been reported with a suggestion.
    if (!isUnknown && Object.hasOwn(request, 'url')) fail(`${pointer}/${at}`, error.message)
  }
  return [{ pointer, request: { ...request, url }, answers }]
}

function findExpectationFault(expected: Json): string | null {
  if (!isObject(expected)) return null
  const { unknown, either }: Partial<JsonObject> = expected
  const isAlone = Object.keys(expected).length === 1
  if (unknown !== undefined && !(isAlone && unknown === true))
    return 'expected {unknown: true}: the answer must be unknown'
  if (either !== undefined && !(isAlone && Array.isArray(either) && either.length > 0))
    return 'expected {either: [VALUE, …]}: the answers that are accepted'
  return null
}
