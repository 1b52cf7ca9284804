import { describe, expect, it } from 'vitest'
import { groupApplies } from '../../src/core/model/applied.ts'
import { findApplies } from '../../src/operations/submission/find-change.ts'
import { buildApplied } from '../state/store-contract.ts'

const history = ['a1', 'r-w1', 'a2', 'r-w10', 'r-w2', 'r-rollback', 'x-w0'].map((id) =>
  buildApplied(id),
)
const ids = (applies: { id: string }[]) => applies.map(({ id }) => id)

describe('applies by name', () => {
  it('are a single apply, or the waves of a rollout in order', () => {
    expect(ids(findApplies(history, 'a2'))).toEqual(['a2'])
    expect(ids(findApplies(history, 'r'))).toEqual(['r-w1', 'r-w2', 'r-w10'])
    expect(ids(findApplies(history, 'r-w2'))).toEqual(['r-w2'])
    expect(ids(findApplies(history, 'x-w0'))).toEqual(['x-w0'])
  })

  it('are grouped by rollout, in the order of the first wave', () => {
    expect(groupApplies(history).map(ids)).toEqual([
      ['a1'],
      ['r-w1', 'r-w2', 'r-w10'],
      ['a2'],
      ['r-rollback'],
      ['x-w0'],
    ])
  })

  it('are an error if there are none, with the closest name', () => {
    expect(() => findApplies(history, 'r-rolback')).toThrow(
      'there is no apply "r-rolback". Did you mean "r-rollback"?',
    )
    expect(() => findApplies([], '\u001b[2J')).toThrow('there is no apply "\\u001b[2J".')
  })
})
