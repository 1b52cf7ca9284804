import { expect, it } from 'vitest'
import { refuse, stageReconciler } from './reconciler-stage.ts'

const minute = 60_000

it('repeats a refused commit after growing waits, also if drift checks find it pending', async () => {
  const { world, reconciler, round } = stageReconciler({
    apply: refuse,
    drift: { pending: 1, live: 0, inDoubt: 0 },
  })
  const attempts: number[] = []
  for (world.nowMs = 0; world.nowMs < 40 * minute; world.nowMs += minute / 2) {
    const before = world.applied.length
    await round()
    await reconciler.detectDrift()
    if (world.applied.length > before) attempts.push(world.nowMs / minute)
  }
  expect(attempts).toEqual([0, 1, 3, 7, 15, 31])
})

it('applies an applied commit again after a drift check that finds something pending', async () => {
  const found = { pending: 0, live: 0, inDoubt: 0 }
  const { world, reconciler, round } = stageReconciler({ drift: found })
  await round()
  await reconciler.detectDrift()
  await round()
  expect(world.applied).toHaveLength(1)
  found.inDoubt = 1
  await reconciler.detectDrift()
  await round()
  expect(world.applied).toHaveLength(2)
})
