// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { seed } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'
import { drawOutage, runOutages, type OutageKind } from './outages/outages.ts'

const pauseSeconds = 3
const maxMs = 20_000
const lanes: OutageKind[][] = [
  ['stop', 'silent'],
  ['stop at once', 'leader cut'],
  ['leader suspended', 'remote and stop'],
]

// They wait most of the time.
describe.concurrent('a rollout ends in time, and no process outlives its last word', () => {
  it.each(lanes)('%s, %s', async (...kinds) => {
    const chance = new Chance(`outages ${seed} ${kinds.join()}`)
    const outages = kinds.map((kind) => drawOutage(chance, kind, pauseSeconds, maxMs))
    expect(await runOutages(outages, pauseSeconds, (line) => console.log(line))).toEqual([])
  })
})
