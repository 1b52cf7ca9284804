// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { runSeeds } from '../simulation/run-seeds.ts'

it('simulations hold all laws', async () => {
  const seeds = runs(0, 1000)
  let done = 0
  const broken = await runSeeds({ from: 1, count: seeds, report: () => done++ })
  expect(
    broken.map(({ seed, violations }) => `npm run simulate -- --seed ${seed}: ${violations[0]}`),
  ).toEqual([])
  expect(done).toBe(seeds)
})
