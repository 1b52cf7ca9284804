// @module-tag often
// @module-tag nightly
import { expect } from 'vitest'
import { itOften, runs } from '../runs.ts'
import { Draws } from './draws.ts'
import { badClasses, drawFleets, judgeFleetWave, raise, waves } from './fleets.ts'

/** Largest factor of the emulator's gusts by default. */
const gustFactor = 2

itOften('gusts stop at most 1 of 200 rollouts, and hide at most 5 of 100 rises', () => {
  const draws = new Draws(20_263)
  const [rollouts, rises] = [runs(1, 200), runs(1, 100)]
  const totals = badClasses.map((name) => ({ name, stopped: 0, hidden: 0 }))
  for (let i = 0; i < rollouts; i++) {
    const fleets = drawFleets(draws, gustFactor)
    // Five points on one of 200 domains.
    const domain = `d${50 + (i % 150)}.example.com`
    for (const total of totals) {
      const fleet = fleets[total.name]
      if (waves.some((wave) => judgeFleetWave(fleet, wave).verdict === 'worse')) total.stopped++
      if (i >= rises) continue
      const { worse } = judgeFleetWave(raise(fleet, domain, 5, draws), [50, 200])
      if (!worse.includes(domain)) total.hidden++
    }
  }
  for (const { name, stopped, hidden } of totals) {
    expect([name, stopped <= rollouts / 200], `${stopped} of ${rollouts}`).toEqual([name, true])
    expect([name, hidden <= (5 / 100) * rises], `${hidden} of ${rises}`).toEqual([name, true])
  }
})
