// @module-tag nightly
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { BadRequest } from '../../src/core/trace/url.ts'
import { Chance } from '../simulation/chance.ts'
import { itOften, runs } from '../runs.ts'
import { tracePair, write, writeTrace } from './for-pairs.ts'
import { createDraft } from './pairs/draft.ts'
import { buildPair, type Pair } from './pairs/pair.ts'
import { drawSettings } from './pairs/readings.ts'
import { shrinkPair } from './pairs/shrink-pair.ts'
import { findAssumed, interpret } from './second/interpret.ts'
import { Clash } from './second/signature.ts'

/** The output of the program, with what only it has left out; null for a contradiction. */
function traceFirst(pair: Pair): JsonObject | null {
  try {
    const { format: _, of: __, request: ___, ...rest } = writeTrace(pair)
    return rest
  } catch (error) {
    if (error instanceof BadRequest) return null
    throw error
  }
}

/** The output of the second interpreter, which was written from the semantics alone. */
function traceSecond(pair: Pair): JsonObject | null {
  try {
    return JSON.parse(JSON.stringify(interpret(pair))) as JsonObject
  } catch (error) {
    if (error instanceof Clash) return null
    throw error
  }
}

function agree(pair: Pair): boolean {
  return write(traceFirst(pair)) === write(traceSecond(pair))
}

/** A pair with random answers of all readings. */
function buildAnswered(seed: number, kind: 'managed' | 'mixed'): Pair {
  const pair = buildPair(seed, kind)
  const draft = createDraft(new Chance(`answers ${seed}`))
  const { unmanaged, ...answers } = drawSettings(draft, 1, [])
  return { ...pair, assume: { unmanaged: unmanaged ?? 'absent', ...pair.assume, ...answers } }
}

/** Compares pairs; the first difference is reduced, and fails. */
function compare(kind: 'managed' | 'mixed', from: number, count: number): void {
  for (let seed = from; seed < from + count; seed++)
    for (const pair of [buildPair(seed, kind), buildAnswered(seed, kind)]) {
      if (agree(pair)) continue
      const small = shrinkPair(pair, (each) => !agree(each))
      expect(traceFirst(small), `${kind} ${seed}: ${JSON.stringify(small)}`).toEqual(
        traceSecond(small),
      )
    }
}

describe.each(['managed', 'mixed'] as const)('both interpreters, %s items', (kind) => {
  it('give the same answers', () => compare(kind, 0, 30))
  itOften('give the same answers for many pairs', () => compare(kind, 30, runs(1, 5_000)))

  itOften('assume the same', () => {
    for (let seed = 0; seed < runs(8, 500); seed++) {
      const pair = buildPair(seed, kind)
      if (traceFirst(pair) === null) continue
      expect(tracePair(pair, true).assumed, `${kind} ${seed}`).toEqual(findAssumed(pair))
    }
  })
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
