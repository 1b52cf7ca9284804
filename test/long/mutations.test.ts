// @module-tag often
import { expect, it } from 'vitest'
import { mutations } from '../simulation/mutations.ts'
import { runSeeds } from '../simulation/run-seeds.ts'

it.each(mutations)(
  'the simulation detects within $seeds seeds that $name',
  async ({ seeds, ...mutation }) => {
    const [first] = await runSeeds({ from: 1, count: seeds, mutation, untilBroken: true })
    expect(first?.violations[0]).toBeDefined()
  },
)
