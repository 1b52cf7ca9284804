// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { mutations } from '../simulation/mutations.ts'
import { runSeeds } from '../simulation/run-seeds.ts'

it.each(mutations)(
  'the simulation detects within $seeds seeds that $name',
  async ({ seeds, found, ...mutation }) => {
    const detect = async (from: number, count: number) =>
      (await runSeeds({ from, count, mutation, untilBroken: true }))[0]
    if ((await detect(found, 1)) !== undefined) return
    // The search may take minutes.
    const stale = `test/simulation/mutations.ts: "found: ${found}" of "${mutation.name}" is stale`
    console.warn(`${stale}; trying ${seeds} seeds`)
    const first = await detect(1, seeds)
    expect(first?.violations[0]).toBeDefined()
    console.warn(`${stale}: write "found: ${first?.seed}"`)
  },
)
