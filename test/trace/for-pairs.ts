import { expect } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { buildOutput } from '../../src/core/trace/output.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, trace, type Compiled, type Trace } from '../../src/core/trace/trace.ts'
import { BadRequest } from '../../src/core/trace/url.ts'
import { Chance } from '../simulation/chance.ts'
import { buildPair, type Pair } from './pairs/pair.ts'
import { shrinkPair } from './pairs/shrink-pair.ts'

/** Compiles the configuration of a pair. */
export function compilePair({ domain, items, assume, timezone }: Pair): Compiled {
  return compile(domain, new Map(Object.entries(items)), buildSettings(assume, timezone))
}

/** Traces the request of a pair; finds what is assumed, if asked for. */
export function tracePair(pair: Pair, asks = false): Trace {
  return trace(compilePair(pair), pair.request, { visitor: pair.visitor, asks })
}

/** The output for a pair. */
export function writeTrace(pair: Pair, asks = false): JsonObject {
  return buildOutput(pair.domain, '', tracePair(pair, asks), () => ({}))
}

/** The value of an answer; undefined if it is not known. */
export function readValue(replies: Trace['replies'], name: string): Json | undefined {
  const reply = replies.get(name)
  return reply !== undefined && 'value' in reply ? reply.value : undefined
}

/** The text of a value, whatever the order of its keys. */
export function write(value: unknown): string {
  return JSON.stringify(sortKeys(value as Json)) ?? 'undefined'
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sortKeys(each)]),
  )
}

/**
 * Something that holds for every pair: returns what is wrong, null if nothing is. Its choices are
 * drawn from the source, which is the same for each form of a pair that is reduced.
 *
 * @throws BadRequest if it can say nothing, because its choices contradict each other
 */
type Property = (pair: Pair, chance: Chance) => string | null

/** Tries a property with pairs; the first that breaks it is reduced, and fails. */
export function holdFor(kind: 'managed' | 'mixed', count: number, property: Property): void {
  for (let seed = 0; seed < count; seed++) {
    const find = (each: Pair) => findFault(property, each, new Chance(`property ${seed}`))
    const pair = buildPair(seed, kind)
    if (find(pair) === null) continue
    const small = shrinkPair(pair, (each) => find(each) !== null)
    expect.fail(`${kind} ${seed}: ${JSON.stringify(small)}: ${find(small)}`)
  }
}

function findFault(property: Property, pair: Pair, chance: Chance): string | null {
  try {
    return property(pair, chance)
  } catch (error) {
    if (error instanceof BadRequest) return null
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

/** Describes how two texts differ; null if they don't. */
export function compareTexts(before: string, after: string): string | null {
  if (before === after) return null
  let at = 0
  while (before[at] === after[at]) at++
  const cut = (text: string) => text.slice(Math.max(0, at - 60), at + 100)
  return `…${cut(before)}… became …${cut(after)}…`
}

/** Changes every node of a value, inner ones first. */
export function mapDeep(node: Json, change: (node: Json, key: string) => Json, key = ''): Json {
  if (Array.isArray(node))
    return change(
      node.map((each) => mapDeep(each, change)),
      key,
    )
  if (!isObject(node)) return change(node, key)
  const fields = Object.entries(node).map(([name, each]) => [name, mapDeep(each, change, name)])
  return change(Object.fromEntries(fields) as Json, key)
}
