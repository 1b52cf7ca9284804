import { describe, expect, it } from 'vitest'
import type { Amount } from '../../src/core/model/config.ts'
import {
  computeWaveEnds,
  findApprovalWaves,
  placeApprovals,
} from '../../src/core/plan/assign-waves.ts'
import { fc } from '../runs.ts'

const count = (value: number): Amount => ({ count: value })
const percent = (value: number): Amount => ({ percent: value })
const shares = [count(1), percent(5), percent(25), percent(100)]

describe('findApprovalWaves', () => {
  it.each<[number[], Amount[], number, number, number[]]>([
    [[], shares, 200, 0, []],
    [[1], shares, 200, 0, [1]],
    [[3], shares, 200, 0, [3]],
    [[2, 4], shares, 200, 0, [2, 4]],
    // 4 domains: waves 2 and 3 are empty, so the second wave of the plan is wave 4.
    [[2], shares, 4, 0, [2]],
    [[3], shares, 4, 0, [2]],
    [[2, 3, 4], shares, 4, 0, [2]],
    // One domain: everything is in the first wave, which then needs the approval.
    [[2], shares, 1, 0, [1]],
    [[4], shares, 1, 0, [1]],
    // Domains that go first fill the later waves.
    [[2], [count(1), percent(20), percent(100)], 10, 4, [2]],
    [[3], [count(1), percent(20), percent(100)], 10, 10, [1]],
    [[1, 2], shares, 0, 0, []],
  ])(
    '%j of %j with %i domains, %i of them first: %j',
    (approval, amounts, domains, first, waves) => {
      const ends = computeWaveEnds(amounts, domains, first)
      expect(findApprovalWaves(approval, ends)).toEqual(waves)
    },
  )
})

it('no approval is lost, or comes later than its wave', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
      (numbers, some) => {
        const present = some.toSorted((a, b) => a - b)
        const placed = placeApprovals(numbers, present)
        for (const number of numbers)
          // The first wave that is not before the one with this number, or else the last wave.
          expect(placed).toContain(
            present.findIndex((wave) => wave >= number) + 1 || present.length,
          )
      },
    ),
  )
})
