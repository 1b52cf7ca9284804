import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Candidates } from '../../src/core/trace/evaluation.ts'
import { buildOutput } from '../../src/core/trace/output.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile } from '../../src/core/trace/compiled.ts'
import { trace } from '../../src/core/trace/trace.ts'
import { itOften, runs } from '../runs.ts'
import { buildPair, type Pair } from './pairs/pair.ts'
import { shrinkPair } from './pairs/shrink-pair.ts'
import { interpret } from './second/interpret.ts'

/** The output of the program, with what only it has left out. */
function traceFirst({ domain, items, request, assume, preset, timezone }: Pair): JsonObject {
  const settings = buildSettings({ preset, assume, timezone: timezone ?? null })
  const candidates: Candidates = new Map(Object.entries(items))
  const found = trace(compile(domain, candidates, settings), request)
  const { format: _, of: __, request: ___, ...rest } = buildOutput(domain, '', found, () => ({}))
  return rest
}

/** The output of the second interpreter, which was written from the semantics alone. */
function traceSecond(pair: Pair): JsonObject {
  const { request: _, ...rest } = JSON.parse(JSON.stringify(interpret(pair))) as JsonObject
  return rest
}

function agree(pair: Pair): boolean {
  return JSON.stringify(sortKeys(traceFirst(pair))) === JSON.stringify(sortKeys(traceSecond(pair)))
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

/** Compares pairs; the first difference is reduced, and fails. */
function compare(kind: 'managed' | 'mixed', from: number, count: number): void {
  for (let seed = from; seed < from + count; seed++) {
    const pair = buildPair(seed, kind)
    if (agree(pair)) continue
    const small = shrinkPair(pair, (each) => !agree(each))
    expect(traceFirst(small), `${kind} ${seed}: ${JSON.stringify(small)}`).toEqual(
      traceSecond(small),
    )
  }
}

describe.each(['managed', 'mixed'] as const)('both interpreters, %s items', (kind) => {
  it('give the same answers', () => compare(kind, 0, 40))
  itOften('give the same answers for many pairs', () => compare(kind, 0, runs(0, 5_000)))
})

it('most answers are decided if all items are managed', () => {
  const texts = Array.from({ length: 60 }, (_, seed) =>
    JSON.stringify(traceFirst(buildPair(seed, 'managed'))),
  )
  const count = (pattern: RegExp) =>
    texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  const [decided, unknown] = [count(/\{"value":/g), count(/\{"unknown":/g)]
  expect(decided / (decided + unknown)).toBeGreaterThan(0.9)
})
