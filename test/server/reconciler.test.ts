import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/model/edgewise-error.ts'
import { listed } from './http-stage.ts'
import { refuse, stageReconciler } from './reconciler-stage.ts'

const minute = 60_000

it('repeats a refused commit after growing waits, also if drift is found meanwhile', async () => {
  const { world, reconciler, round } = stageReconciler({
    apply: refuse,
    drift: () => ({ pending: 1, live: 0, inDoubt: 0 }),
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

it('reports a refused commit and a rollout that is refused a step, the commit once', async () => {
  const { world, reconciler, round } = stageReconciler({ apply: refuse, advance: refuse })
  for (world.nowMs = 0; world.nowMs < 40 * minute; world.nowMs += minute) await round()
  expect(world.applied.length).toBeGreaterThan(3)
  await reconciler.advance('r1')
  const [good, better] = ['a'.repeat(40), 'b'.repeat(40)]
  world.tip = better
  await round()
  expect(world.reported).toEqual([
    [good, good],
    [good, 'rollout', 'r1'],
    [better, better],
  ])
})

it('applies an applied commit again after a drift check that finds something pending', async () => {
  const found = { pending: 0, live: 0, inDoubt: 0 }
  const { world, reconciler, round } = stageReconciler({ drift: () => found })
  await round()
  await reconciler.detectDrift()
  await round()
  expect(world.applied).toHaveLength(1)
  found.inDoubt = 1
  await reconciler.detectDrift()
  await round()
  expect(world.applied).toHaveLength(2)
})

it('repeats a refused step of a rollout, and not the tip', async () => {
  const steps = ['incomplete', 'failed', 'not-begun', 'incomplete', 'waiting', 'incomplete', 'none']
  const { world, reconciler, round } = stageReconciler({
    apply: refuse,
    advance: async () => {
      const status = steps.shift() ?? ''
      if (status === 'failed') throw new Error('the database is away')
      return { waitMs: status === 'waiting' ? 5 : null, status }
    },
  })
  await round()
  const waits: unknown[] = []
  for (let left = steps.length; left > 0; left--) {
    waits.push((await reconciler.advance('r1')).waitMs)
    await round()
  }
  expect(waits).toEqual(['retry', 'retry', 'retry', 'retry', 5, 'retry', null])
  expect(world.applied).toHaveLength(2)
})

it('keeps secrets out of what clients read about the apply and the round', async () => {
  const key = 'key-of-the-origin'
  const stopped = `the service quotes ${key}`
  const ends = [() => ({ status: 'incomplete', stopped }), () => fail(`refuses ${key}`)]
  const fail = (message: string) => {
    throw new Error(message)
  }
  const { reconciler, logger, world, round } = stageReconciler({
    apply: async () => ends.shift()?.() ?? fail('expected no more'),
    fetch: async () => (ends.length === 0 ? fail(`no answer for ${key}`) : world.tip),
  })
  logger.setScrub((text) => text.replaceAll(key, '(key)'))
  await round()
  expect(reconciler.found.applied?.message).toBe('the service quotes (key)')
  world.tip = 'b'.repeat(40)
  await round()
  expect(reconciler.found.applied?.message).toBe('refuses (key)')
  await round()
  expect(reconciler.found.problem).toBe('no answer for (key)')
})

it('reports the fetched commit, not in sync, while its apply runs', async () => {
  const list = async () => {
    const { text } = await metrics.format('prometheus')
    return text.split('\n').filter((line) => /^edgewise_branch_(in_sync|fetch)/.test(line))
  }
  const during: string[][] = []
  const { metrics, world, round } = stageReconciler({
    apply: async () => {
      during.push(await list())
      return { status: 'done' }
    },
  })
  world.nowMs = 5000
  await round()
  expect((await list())[1]).toMatch(/ 1$/)
  world.nowMs = 9000
  world.tip = 'b'.repeat(40)
  await round()
  const line = (name: string, value: number) =>
    expect.stringMatching(new RegExp(`^edgewise_branch_${name}\\{.* ${value}$`))
  expect(during).toEqual([
    [line('fetch_time_seconds', 5), line('in_sync', 0)],
    [line('fetch_time_seconds', 9), line('in_sync', 0)],
  ])
})

it('has each round and each piece of work watched', async () => {
  const seen: number[] = []
  const { world, reconciler, round } = stageReconciler({
    fetch: async () => {
      seen.push(world.running)
      return world.tip
    },
    advance: async () => {
      seen.push(world.running)
      return { waitMs: null, status: 'done' }
    },
    drift: (running) => {
      seen.push(running)
      return { pending: 0, live: 0, inDoubt: 0 }
    },
  })
  await round()
  await reconciler.advance('r1')
  await reconciler.detectDrift()
  expect([seen, world.running]).toEqual([[1, 1, 1], 0])
})

it('applies the tip again after somebody has ended a rollout with a command', async () => {
  const { world, round } = stageReconciler({ apply: async () => ({ status: 'waiting' }) })
  world.rollouts = [listed]
  await round()
  await round()
  expect(world.applied).toHaveLength(1)
  world.rollouts = []
  await round()
  await round()
  expect(world.applied).toHaveLength(2)
})

it('starts a workflow beside one that a lost leader began, and that nothing runs', async () => {
  const { world, round } = stageReconciler()
  world.open = ['w r0 found']
  world.rollouts = [{ ...listed, id: 'r0', state: 'pausing' }]
  await round()
  expect(world.started).toEqual([])
  world.rollouts.push({ ...listed, state: 'pausing' })
  world.open.push('w r1 stray')
  await round()
  await round()
  expect(world.started).toEqual(['w r1 id'])
})

it('goes by the last good commit while the tip is invalid, and reports that once', async () => {
  const [good, heavy, better] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [
    string,
    string,
    string,
  ]
  const { world, reconciler, round, metrics } = stageReconciler({
    load: (commit) => {
      if (commit === heavy) throw new EdgewiseError('invalid', 'it takes more than 60 seconds')
    },
  })
  await round()
  world.tip = heavy
  world.rollouts = [{ ...listed, state: 'running' }]
  for (world.nowMs = 0; world.nowMs < 5 * minute; world.nowMs += minute) await round()
  await reconciler.advance('r1')
  await reconciler.detectDrift()
  expect(world.heads).toEqual([good, good])
  expect(world.started).toHaveLength(1)
  expect(reconciler.found).toMatchObject({
    commit: heavy,
    applied: { commit: heavy, status: 'failed', message: 'it takes more than 60 seconds' },
    problem: null,
  })
  expect(world.reported).toEqual([[good, heavy]])
  const { text } = await metrics.format('prometheus')
  expect(text).toMatch(/^edgewise_invalid_commits_total\{.*\} 1$/m)
  world.tip = better
  await round()
  await reconciler.advance('r1')
  expect([world.heads.at(-1), world.applied]).toEqual([better, [good, better]])
})
