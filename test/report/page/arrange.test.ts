import { describe, expect, it } from 'vitest'
import { arrangeByGroups } from '../../../src/report/page/arrange.ts'
import { fc, itOften, runs } from '../../runs.ts'

describe('an arrangement by groups', () => {
  it('keeps the order without groups', () => {
    expect(arrangeByGroups(3, [])).toEqual([0, 1, 2])
    expect(arrangeByGroups(0, [])).toEqual([])
  })

  it('makes the elements of each group neighbours where that is possible', () => {
    expect(
      arrangeByGroups(6, [
        [0, 3],
        [1, 4],
        [3, 5],
      ]),
    ).toEqual([0, 3, 5, 1, 4, 2])
  })

  it('puts the element with the same groups next', () => {
    expect(
      arrangeByGroups(4, [
        [0, 1, 3],
        [1, 2],
        [0, 3],
      ]),
    ).toEqual([0, 3, 1, 2])
  })

  itOften('has each element once', () => {
    const arbitrary = fc
      .integer({ min: 1, max: 12 })
      .chain((count) =>
        fc.tuple(
          fc.constant(count),
          fc.array(fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: 5 })),
        ),
      )
    fc.assert(
      fc.property(arbitrary, ([count, groups]) => {
        expect(arrangeByGroups(count, groups).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, i) => i),
        )
      }),
      { numRuns: runs(100, 5000) },
    )
  })
})
