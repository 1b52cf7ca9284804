import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'
import { inspect, renderPage } from '../tools/house.ts'

it('rooms import only what their row allows, and pure rooms are pure', () => {
  const { rooms, faults } = inspect()
  expect(faults).toEqual([])
  expect(rooms.every((room) => room.files > 0)).toBe(true)
})

it('docs/architecture.md has the current picture (else npm run house -- --picture)', () => {
  const { now, drawn } = renderPage(inspect().rooms)
  expect(now).toContain('flowchart TD')
  expect(now).toBe(drawn)
})

it('every file of the longer checks has the tag that they run', () => {
  const files = globSync('test/long/*.test.ts')
  const tagged = files.filter((file) =>
    readFileSync(file, 'utf8').startsWith('// @module-tag often\n'),
  )
  expect(tagged).toEqual(files)
})
