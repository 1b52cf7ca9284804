import { expect, it } from 'vitest'
import { inspect } from '../tools/house.ts'

it('rooms import only what their row allows, and thinking rooms are pure', () => {
  const { rooms, faults } = inspect()
  expect(faults).toEqual([])
  expect(rooms.every((room) => room.files > 0)).toBe(true)
})
