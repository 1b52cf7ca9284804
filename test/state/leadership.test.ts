import { expect, it } from 'vitest'
import { computeNextTerm } from '../../src/state/postgres/leadership.ts'

const process = { boot: 'b', namespace: 'n', pid: 7, started: '1' }
const row = { number: '4', token: 'one', process: JSON.stringify(process), wakes: '2' }

it.each([
  ['nobody follows a leader with signs of life', false, 'two', null],
  ['another process follows one without', true, 'two', { number: 5, previous: process, wakes: 2 }],
  ['a leader follows itself', false, 'one', { number: 5, previous: null, wakes: 2 }],
])('%s', (_title, ended, token, expected) => {
  expect(computeNextTerm({ ...row, ended }, token)).toEqual(expected)
})

it('a leader that resigned has no process', () => {
  const resigned = { ...row, token: null, process: '{}', ended: true }
  expect(computeNextTerm(resigned, 'two')).toMatchObject({ number: 5, previous: null })
})
