// @module-tag often
import { expect, it } from 'vitest'
import { mutations } from '../simulation/mutations.ts'
import { runSeeds } from '../simulation/run-seeds.ts'

it.each(mutations)(
  'the simulation detects within $seeds seeds that $name',
  async ({ seeds, found, ...mutation }) => {
    const detect = async (from: number, count: number) => {
      const [first] = await runSeeds({ from, count, mutation, untilBroken: true })
      return first?.violations[0]
    }
    const known = found === undefined ? undefined : await detect(found, 1)
    expect(known ?? (await detect(1, seeds))).toBeDefined()
  },
)
