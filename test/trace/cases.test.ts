import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Candidate } from '../../src/core/trace/candidates.ts'
import { buildOutput } from '../../src/core/trace/output.ts'
import type { Visitor } from '../../src/core/trace/request.ts'
import { buildSettings, listOthers } from '../../src/core/trace/settings.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { BadRequest } from '../../src/core/trace/url.ts'

/** Cases of one configuration. All items that it does not name are absent. */
interface Group {
  name: string
  domain?: string
  items?: JsonObject
  candidates?: Record<string, Json[]>
  /** Items without a value: unknown, unless `assume` says something else of them. */
  unmanaged?: string[]
  base?: 'none'
  assume?: JsonObject
  visitor?: Visitor
  timezone?: string
  cases: Case[]
}

/** A request, what is expected of its trace, and settings for this request alone. */
interface Case {
  request: Json
  assume?: JsonObject
  visitor?: Visitor
  expect?: JsonObject
  error?: boolean
}

const folder = new URL('cases/', import.meta.url)
const base: JsonObject = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

for (const file of readdirSync(folder).toSorted()) {
  const groups = parse(readFileSync(new URL(file, folder), 'utf8')) as Group[]
  describe(file, () => {
    for (const group of groups)
      it(group.name, () => {
        for (const each of group.cases) {
          const text = JSON.stringify(each.request)
          if (each.error === true)
            expect(() => traceCase(group, each, false), text).toThrow(BadRequest)
          else checkCase(group, each, text)
        }
      })
  })
}

function checkCase(group: Group, each: Case, text: string): void {
  const expected = Object.entries(each.expect ?? {})
  const asks = expected.some(([path]) => path.startsWith('assumed'))
  const output = traceCase(group, each, asks)
  const wanted = expected.map(([path, value]) => [path, wrap(path, value)])
  const paths = expected.map(([path]) => path)
  expect(pick(output, paths), text).toEqual(Object.fromEntries(wanted))
  for (const [path, value] of expected)
    if (isObject(value) && 'on' in value)
      for (const name of [value['on']].flat()) checkResting(group, each, path, String(name))
}

/** Checks that an answer rests on a reading: `assumed` lists it, and another answer changes it. */
function checkResting(group: Group, each: Case, path: string, name: string): void {
  const number = Number(name.slice(1))
  const output = traceCase(group, each, true)
  const current = isObject(output['assumed']) ? output['assumed'][name] : undefined
  expect(current, `${path} rests on ${name}`).toEqual(buildSettings().answers[number])
  const others = listOthers(number, current ?? null).map((answer) => {
    const assume = { ...each.assume, [name]: answer }
    return JSON.stringify(pick(traceCase(group, { ...each, assume }, false), [path]))
  })
  const changed = others.filter((other) => other !== JSON.stringify(pick(output, [path])))
  expect(changed, `${path} with other answers of ${name}`).not.toEqual([])
}

function traceCase(group: Group, { request, assume, visitor }: Case, asks: boolean): JsonObject {
  const domain = group.domain ?? 'www.example.com'
  const unmanaged: JsonObject = group.unmanaged === undefined ? {} : { unmanaged: 'unknown' }
  const all: JsonObject = { ...unmanaged, ...group.assume, ...assume }
  if (all['unmanaged'] === 'default') delete all['unmanaged']
  const compiled = compile(domain, buildItems(group), buildSettings(all, group.timezone))
  const facts = expandUrl(typeof request === 'string' ? { url: request } : request)
  const options = { visitor: visitor ?? group.visitor ?? 'unknown', asks }
  return buildOutput(domain, 'desired', trace(compiled, facts, options), () => ({}))
}

function buildItems(group: Group): Map<string, Candidate[]> {
  const items = { ...(group.base === 'none' ? {} : base), ...group.items }
  const all = new Map<string, Candidate[]>([...catalogue.keys()].map((key) => [key, [null]]))
  for (const [key, value] of Object.entries(items)) all.set(key, [canonicalize(key, value)])
  for (const [key, values] of Object.entries(group.candidates ?? {}))
    all.set(
      key,
      values.map((value) =>
        value === null || (isObject(value) && '$unknown' in value)
          ? (value as Candidate)
          : canonicalize(key, value),
      ),
    )
  for (const key of group.unmanaged ?? []) all.delete(key)
  return all
}

function canonicalize(key: string, value: Json): Json {
  const parsed = parseItem(getItemSpec(key), value, 'manifest')
  expect(parsed.value, JSON.stringify(parsed.problems)).not.toBeNull()
  return parsed.value
}

function expandUrl(request: Json): Json {
  return isObject(request) && typeof request['url'] === 'string'
    ? { ...request, url: request['url'].replace(/^~/, 'https://www.example.com') }
    : request
}

/** Reads paths of the output; one that goes on below an answer reads its value. */
function pick(output: JsonObject, paths: string[]): Record<string, unknown> {
  return Object.fromEntries(
    paths.map((path) => [path, shorten(read(output, path.split('.'))) ?? null]),
  )
}

function read(output: Json | undefined, steps: string[]): unknown {
  return steps.reduce<unknown>((current, step) => {
    if (Array.isArray(current))
      return current.find((entry: Json) => isObject(entry) && entry['item'] === step)
    if (!isObject(current)) return undefined
    return step in current ? current[step] : read(current['value'], [step])
  }, output)
}

/** Rules as item and pointer, also in lists and answers. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten)
  if (!isObject(value)) return value
  if ('pointer' in value) return `${String(value['item'])}${String(value['pointer'])}`
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key === 'result' ? each : shorten(each)]),
  )
}

/** What is expected of an answer: a plain value stands for a known one. */
function wrap(path: string, value: Json | undefined): unknown {
  if (isObject(value) && 'on' in value) {
    const { on: _, ...answer } = value
    return 'value' in answer ? wrap(path, answer['value']) : answer
  }
  const steps = path.split('.')
  const isPlain =
    /^(?:assumed|unmanaged|notes|visitor)$/.test(steps[0] ?? '') ||
    /^(?:also|maybe|state|exempt)$/.test(steps.at(-1) ?? '') ||
    path === 'origin.headers' ||
    path === 'response.headers' ||
    (steps[1] === 'checks' && steps[3] === 'rule') ||
    (isObject(value) && 'unknown' in value) ||
    steps.length > (steps[1] === 'checks' ? 4 : steps[1] === 'headers' ? 3 : 2)
  return isPlain ? value : { value }
}
