import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Candidate } from '../../src/core/trace/evaluation.ts'
import { buildOutput } from '../../src/core/trace/output.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile } from '../../src/core/trace/compiled.ts'
import { trace } from '../../src/core/trace/trace.ts'

/** Cases of one configuration. All items that it does not name are absent. */
interface Group {
  name: string
  domain?: string
  items?: JsonObject
  candidates?: Record<string, Json[]>
  unmanaged?: string[]
  base?: 'none'
  assume?: JsonObject
  preset?: 'usual' | 'strict'
  timezone?: string
  cases: { request: Json; expect?: JsonObject; error?: boolean }[]
}

const folder = new URL('cases/', import.meta.url)
const base: JsonObject = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

for (const file of readdirSync(folder).toSorted()) {
  const groups = parse(readFileSync(new URL(file, folder), 'utf8')) as Group[]
  describe(file, () => {
    for (const group of groups)
      it(group.name, () => {
        for (const { request, expect: expected = {}, error } of group.cases) {
          const run = () => traceCase(group, request)
          if (error === true) expect(run, JSON.stringify(request)).toThrow()
          else
            expect(pick(run(), Object.keys(expected)), JSON.stringify(request)).toEqual(
              Object.fromEntries(
                Object.entries(expected).map(([key, value]) => [key, wrap(key, value)]),
              ),
            )
        }
      })
  })
}

function traceCase(group: Group, request: Json): JsonObject {
  const domain = group.domain ?? 'www.example.com'
  const settings = buildSettings({
    preset: group.preset ?? 'strict',
    assume: group.assume ?? {},
    timezone: group.timezone ?? null,
  })
  const compiled = compile(domain, buildItems(group), settings)
  const found = trace(compiled, expandUrl(typeof request === 'string' ? { url: request } : request))
  return buildOutput(domain, 'desired', found, () => ({}))
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
  return Object.fromEntries(paths.map((path) => [path, shorten(read(output, path.split('.')))]))
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
  const steps = path.split('.')
  const isPlain =
    /^(?:assumed|unmanaged|notes)$/.test(steps[0] ?? '') ||
    /^(?:also|maybe|state|exempt)$/.test(steps.at(-1) ?? '') ||
    path === 'origin.headers' ||
    path === 'response.headers' ||
    (steps[1] === 'checks' && steps[3] === 'rule') ||
    (isObject(value) && 'unknown' in value) ||
    steps.length > (steps[1] === 'checks' ? 4 : steps[1] === 'headers' ? 3 : 2)
  return isPlain ? value : { value }
}
