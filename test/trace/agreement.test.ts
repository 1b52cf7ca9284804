// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { itOften, runs } from '../runs.ts'
import { write, writeTrace } from './for-pairs.ts'
import { buildPair, type Pair } from './pairs/pair.ts'
import { shrinkPair } from './pairs/shrink-pair.ts'
import { interpret } from './second/interpret.ts'

/** The output of the program, with what only it has left out. */
function traceFirst(pair: Pair): JsonObject {
  const { format: _, of: __, request: ___, ...rest } = writeTrace(pair)
  return rest
}

/** The output of the second interpreter, which was written from the semantics alone. */
function traceSecond(pair: Pair): JsonObject {
  const { request: _, ...rest } = JSON.parse(JSON.stringify(interpret(pair))) as JsonObject
  return rest
}

function agree(pair: Pair): boolean {
  return write(traceFirst(pair)) === write(traceSecond(pair))
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
  it('give the same answers', () => compare(kind, 0, 12))
  itOften('give the same answers for many pairs', () => compare(kind, 12, runs(1, 5_000)))
})

it('most answers are decided if all items are managed', () => {
  const texts = Array.from({ length: 20 }, (_, seed) =>
    JSON.stringify(traceFirst(buildPair(seed, 'managed'))),
  )
  const count = (pattern: RegExp) =>
    texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
  const [decided, unknown] = [count(/\{"value":/g), count(/\{"unknown":/g)]
  expect(decided / (decided + unknown)).toBeGreaterThan(0.9)
})
