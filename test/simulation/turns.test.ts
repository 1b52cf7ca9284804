// @module-tag often
import { describe, expect, it } from 'vitest'
import { runTurns, type Turn } from './turns.ts'

const build = (machines: number, writes: number[]): Turn[] =>
  writes.map((count, i) => ({ machine: i % machines, writes: count }))

describe('two machines of one account', () => {
  it.each([
    ['two long applies', [45, 45]],
    ['six short applies', [10, 10, 10, 10, 10, 10]],
  ])('need no minute more than one for %s in turn', async (_name, writes) => {
    const one = await runTurns('git with remote', build(1, writes))
    const two = await runTurns('git with remote', build(2, writes))
    expect([one.violations, two.violations]).toEqual([[], []])
    expect(two.seconds).toBeLessThan(one.seconds + 15)
  })
})
