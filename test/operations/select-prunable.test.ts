import { describe, expect, it } from 'vitest'
import type { Applied } from '../../src/core/model/applied.ts'
import { buildRollout } from '../plans.ts'
import { selectPrunable, type PruneLimits } from '../../src/operations/prune.ts'

const dayMs = 86_400_000
const start = Date.UTC(2026, 0, 1)

/** Builds an apply of one hour that began on this day. */
function buildApply(id: string, day: number, more: Partial<Applied> = {}): Applied {
  return {
    id,
    startedAt: new Date(start + day * dayMs).toISOString(),
    endedAt: new Date(start + day * dayMs + 3_600_000).toISOString(),
    commit: null,
    author: null,
    writes: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
    outcome: 'complete',
    ...more,
  }
}

function select(history: Applied[], day: number, limits: Partial<PruneLimits> = {}) {
  const { applies, blockedBy } = selectPrunable(history, {
    beforeMs: start + day * dayMs,
    rollouts: [],
    needed: new Set(),
    maxApplies: Infinity,
    ...limits,
  })
  return { applies: applies.map(({ id }) => id), blockedBy }
}

describe('selectPrunable', () => {
  const history = [0, 1, 2, 3].map((day) => buildApply(`a${day}`, day))

  it('selects old applies, and never the last one', () => {
    expect(select(history, 2)).toEqual({ applies: ['a0', 'a1'], blockedBy: null })
    expect(select(history, 100)).toEqual({ applies: ['a0', 'a1', 'a2'], blockedBy: null })
    expect(select(history, 0)).toEqual({ applies: [], blockedBy: null })
    expect(select([], 100)).toEqual({ applies: [], blockedBy: null })
  })

  it('stops at a needed apply, and names it', () => {
    const needed = new Set(['a1'])
    expect(select(history, 100, { needed })).toEqual({ applies: ['a0'], blockedBy: 'a1' })
    expect(select(history, 1, { needed })).toEqual({ applies: ['a0'], blockedBy: null })
  })

  it('names no apply where the last one is needed', () => {
    expect(select(history, 100, { needed: new Set(['a3']) }).blockedBy).toBe(null)
  })

  it('stops at an unfinished rollout only', () => {
    for (const state of ['open', 'rolling-back'] as const) {
      const rollouts = [buildRollout({ id: 'r', state, applies: ['a1'] })]
      expect(select(history, 100, { rollouts })).toEqual({ applies: ['a0'], blockedBy: 'a1' })
    }
    const rollouts = [buildRollout({ id: 'r', state: 'stopped', applies: ['a1'] })]
    expect(select(history, 100, { rollouts }).applies).toHaveLength(3)
  })

  it('treats the waves of a rollout as one, by its last wave', () => {
    const waves = [buildApply('r-w1', 0), buildApply('r-w2', 2), buildApply('z', 3)]
    expect(select(waves, 2).applies).toEqual([])
    expect(select(waves, 3).applies).toEqual(['r-w1', 'r-w2'])
  })

  it('keeps a rollout with a wave after a kept apply', () => {
    const waves = [buildApply('r-w1', 0), buildApply('kept', 1), buildApply('r-w2', 2)]
    const more = [...waves, buildApply('z', 3)]
    expect(select(more, 100, { needed: new Set(['kept']) }).applies).toEqual([])
    expect(select(more, 100).applies).toEqual(['r-w1', 'r-w2', 'kept'])
  })

  it('selects at most a number of applies, but a whole rollout', () => {
    expect(select(history, 100, { maxApplies: 2 }).applies).toEqual(['a0', 'a1'])
    const waves = [...[1, 2, 3].map((n) => buildApply(`r-w${n}`, n)), buildApply('z', 9)]
    expect(select(waves, 100, { maxApplies: 2 }).applies).toHaveLength(3)
  })

  it('takes the start of an apply whose process was killed', () => {
    const killed = buildApply('a0', 0, { endedAt: null, outcome: 'unfinished' })
    expect(select([killed, ...history.slice(1)], 1).applies).toEqual(['a0'])
  })
})
