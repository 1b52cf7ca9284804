import { expect, it } from 'vitest'
import { judgeTurn } from '../../src/state/postgres/postgres-locks.ts'
import { buildHolder } from './contender.ts'

const [one, two] = [buildHolder('one'), buildHolder('two')]
const lock = { token: 'x', version: '1', isHeld: false, holder: null, revoked: [] }

it('a process that nobody is before takes the lock, with the marks of former holders', () => {
  const marks = [
    { ...lock, revoked: [one] },
    { ...lock, isHeld: true, revoked: [two] },
  ]
  expect(judgeTurn('7', [])).toEqual({ version: '7', revoked: [] })
  expect(judgeTurn('7', marks)).toEqual({ version: '7', revoked: [one, two] })
})

it('a process waits for who has the lock, before others that wait for it too', () => {
  const waiting = { ...lock, holder: one }
  const held = { ...lock, holder: two, isHeld: true }
  expect(judgeTurn('7', [waiting])).toEqual({ version: null, other: one, isHeld: false })
  expect(judgeTurn('7', [waiting, held])).toEqual({ version: null, other: two, isHeld: true })
})
