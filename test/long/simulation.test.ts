// @module-tag often
import { expect, it } from 'vitest'
import { runSeeds } from '../simulation/run-seeds.ts'

const seeds = 1000

it(`${seeds} simulations hold all laws`, async () => {
  let done = 0
  const broken = await runSeeds({ from: 1, count: seeds, report: () => done++ })
  expect(
    broken.map(({ seed, violations }) => `npm run simulate -- --seed ${seed}: ${violations[0]}`),
  ).toEqual([])
  expect(done).toBe(seeds)
})
