import { describe, expect, it } from 'vitest'
import { groupApplies, findApplies } from '../../src/operations/find-applies.ts'
import { buildApplied } from '../state/store-contract.ts'

const history = ['a1', 'r-w1', 'a2', 'r-w10', 'r-w2', 'r-rollback', 'x-w0'].map((id) =>
  buildApplied(id),
)
const ids = (applies: { id: string }[]) => applies.map(({ id }) => id)

describe('applies by their name', () => {
  it('are one by its id, or the waves of a rollout by their number', () => {
    expect(ids(findApplies(history, 'a2'))).toEqual(['a2'])
    expect(ids(findApplies(history, 'r'))).toEqual(['r-w1', 'r-w2', 'r-w10'])
    expect(ids(findApplies(history, 'r-w2'))).toEqual(['r-w2'])
    expect(ids(findApplies(history, 'x-w0'))).toEqual(['x-w0'])
  })

  it('are together where they are waves of one rollout, in the order of the first', () => {
    expect(groupApplies(history).map(ids)).toEqual([
      ['a1'],
      ['r-w1', 'r-w2', 'r-w10'],
      ['a2'],
      ['r-rollback'],
      ['x-w0'],
    ])
  })

  it('are an error where there are none, with the name that was probably meant', () => {
    expect(() => findApplies(history, 'r-rolback')).toThrow(
      'there is no apply "r-rolback". Did you mean "r-rollback"?',
    )
    expect(() => findApplies([], '\u001b[2J')).toThrow('there is no apply "\\u001b[2J".')
  })
})
