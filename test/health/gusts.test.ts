import { describe, expect } from 'vitest'
import { itOften, runs } from '../runs.ts'
import { Draws } from './draws.ts'
import { drawFleet, judgeFleetWave, raise, waves } from './fleets.ts'

/** Largest factor of the emulator's gusts by default. */
const gustFactor = 2

describe.each([
  ['4xx', 4],
  ['5xx', 5],
])('%s that come in gusts', (_name, hundreds) => {
  itOften('stop at most 1 of 200 rollouts that change nothing', () => {
    const draws = new Draws(20_263 + hundreds)
    const rollouts = runs(4, 200)
    let stopped = 0
    for (let i = 0; i < rollouts; i++) {
      const fleet = drawFleet(draws, hundreds, gustFactor)
      if (waves.some((wave) => judgeFleetWave(fleet, wave).verdict === 'worse')) stopped++
    }
    expect(stopped).toBeLessThanOrEqual(rollouts / 200)
  })

  itOften('hide a rise of five points on one of 200 domains in at most 5 of 100 cases', () => {
    const draws = new Draws(20_265 + hundreds)
    const cases = runs(3, 100)
    let found = 0
    for (let i = 0; i < cases; i++) {
      const domain = `d${50 + (i % 150)}.example.com`
      const fleet = raise(drawFleet(draws, hundreds, gustFactor), domain, 5, draws)
      if (judgeFleetWave(fleet, [50, 200]).worse.includes(domain)) found++
    }
    expect(found).toBeGreaterThanOrEqual(Math.floor(0.95 * cases))
  })
})
