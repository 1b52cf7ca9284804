import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { buildSettings, listOthers } from '../../src/core/trace/settings.ts'
import { listCases, loadGroups, readFacts, type Case, type Group } from './case-files.ts'
import { write, writeTrace } from './for-pairs.ts'
import type { Pair } from './pairs/pair.ts'
import { findAssumed, interpret } from './second/interpret.ts'

/** Traces a request; finds what is assumed, if asked for. */
type Tracer = (pair: Pair, asks: boolean) => JsonObject

const site = 'https://www.example.com'
const folder = new URL('cases/', import.meta.url)
const base: JsonObject = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

function defineCases(file: string, trace: Tracer): void {
  const groups = loadGroups(new URL(file, folder))
  describe(file, () => {
    for (const group of groups)
      it(group.name, () => {
        for (const each of listCases(group)) checkCase(buildPair(group, each), each.expect, trace)
        for (const request of group.errors ?? []) {
          const pair = buildPair(group, { ...group, request: readFacts(request) })
          expect(() => trace(pair, false), write(request)).toThrow()
        }
      })
  })
}

describe('the program', () => {
  for (const file of readdirSync(folder).toSorted()) defineCases(file, writeTrace)
})

describe('the second interpreter', () => {
  const find: Tracer = (pair, asks) =>
    ({ ...interpret(pair), ...(asks ? { assumed: findAssumed(pair) } : {}) }) as JsonObject
  for (const file of ['worked', 'assumed', 'doubt', 'visitor']) defineCases(`${file}.yaml`, find)
})

function checkCase(pair: Pair, expected: JsonObject, trace: Tracer): void {
  const entries = Object.entries(expected)
  const asks = entries.some(([path]) => path.startsWith('assumed'))
  const wanted = entries.map(([path, value]) => [path, wrap(path, value)])
  const paths = entries.map(([path]) => path)
  const text = write(pair.request)
  expect(pick(trace(pair, asks), paths), text).toEqual(Object.fromEntries(wanted))
  for (const [path, value] of entries)
    if (isObject(value) && 'on' in value)
      for (const name of [value['on']].flat()) checkResting(pair, path, String(name), trace)
}

/** Checks that an answer rests on a reading: `assumed` lists it, and another answer changes it. */
function checkResting(pair: Pair, path: string, name: string, trace: Tracer): void {
  const number = Number(name.slice(1))
  const output = trace(pair, true)
  const current = isObject(output['assumed']) ? output['assumed'][name] : undefined
  expect(String(current), `${path} rests on ${name}`).toBe(String(buildSettings().answers[number]))
  const others = listOthers(number, current ?? null).map((answer) => {
    const assume = { ...pair.assume, [name]: answer }
    return write(pick(trace({ ...pair, assume }, false), [path]))
  })
  const changed = others.filter((other) => other !== write(pick(output, [path])))
  expect(changed, `${path} with other answers of ${name}`).not.toEqual([])
}

function buildPair(group: Group, each: Omit<Case, 'expect'>): Pair {
  const { domain = 'www.example.com', timezone } = group
  const assume: JsonObject = {
    ...(group.unmanaged === undefined ? {} : { unmanaged: 'unknown' }),
    ...each.assume,
  }
  if (assume['unmanaged'] === 'default') delete assume['unmanaged']
  return {
    domain,
    items: buildItems(group),
    request: expandUrl(each.request),
    visitor: each.visitor ?? 'unknown',
    assume,
    ...(timezone === undefined ? {} : { timezone }),
  }
}

function buildItems(group: Group): Record<string, Json[]> {
  const items = { ...(group.base === 'none' ? {} : base), ...group.items }
  const known = Object.entries(items).map(([key, value]) => [key, [value]] as const)
  const all = [...known, ...Object.entries(group.candidates ?? {})].map(([key, values]) => [
    key,
    values.map((value) =>
      value === null || (isObject(value) && '$unknown' in value) ? value : canonicalize(key, value),
    ),
  ])
  const absent = [...catalogue.keys()].map((key) => [key, [null]])
  const built = Object.entries({ ...Object.fromEntries(absent), ...Object.fromEntries(all) })
  return Object.fromEntries(
    built.filter(([key]) => group.unmanaged?.includes(key) !== true),
  ) as Record<string, Json[]>
}

function canonicalize(key: string, value: Json): Json {
  const parsed = parseItem(getItemSpec(key), value, 'manifest')
  expect(parsed.value, JSON.stringify(parsed.problems)).not.toBeNull()
  return parsed.value
}

function expandUrl({ url = '~/', ...facts }: JsonObject): JsonObject {
  return { url: typeof url === 'string' ? url.replace(/^~/, site) : url, ...facts }
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
