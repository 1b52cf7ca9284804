import { expect, it } from 'vitest'
import {
  buildInput,
  createRolloutWorkflow,
  type Advanced,
} from '../../src/server/rollout-workflow.ts'

/** Runs a workflow whose steps end so; returns its sleeps, ms. */
async function run(advance: (step: number) => Advanced['waitMs']): Promise<number[]> {
  const sleeps: number[] = []
  let steps = 0
  const workflow = createRolloutWorkflow(async (id) => {
    expect(id).toBe('r1')
    if (++steps > 1000) throw new Error('it does not end')
    return { waitMs: advance(steps) }
  })
  await workflow(buildInput('r1'), {
    step: (_name, work) => work(),
    sleep: async (ms) => void sleeps.push(ms),
  })
  return sleeps
}

const minute = 60_000

it('waits longer after each failed step, and as before after another one', async () => {
  const failing = await run((step) => (step === 9 ? null : step === 8 ? 5 : 'retry'))
  expect(failing).toEqual([1, 2, 4, 5, 5, 5, 5].map((each) => each * minute).concat(5))
  const recovered = await run((step) => (step === 4 ? null : step === 2 ? 7 : 'retry'))
  expect(recovered).toEqual([minute, 7, minute])
})

it('ends after a number of steps, for another workflow to resume the rollout', async () => {
  expect(await run(() => 'retry')).toHaveLength(100)
  expect(await run(() => 5)).toHaveLength(100)
})
