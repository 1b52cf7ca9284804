import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { listed } from './http-stage.ts'
import { lookMs, refuse, stageReconciler } from './reconciler-stage.ts'
import { itLong } from '../runs.ts'

const minute = 60_000
const [good, heavy, better] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
]
const away = () =>
  Promise.reject(new EdgewiseError('record-unreachable', 'the database is away', ''))
const step = { ...listed, id: 'r1', state: 'pausing' as const }

it('repeats a refused commit after growing waits, also if drift is found meanwhile', async () => {
  const attempts: number[] = []
  const { world, reconciler, runUntil } = stageReconciler(
    {
      apply: () => {
        attempts.push(world.nowMs / minute)
        return refuse()
      },
      drift: () => ({ pending: 1, live: 0, inDoubt: 0 }),
    },
    '* * * * *',
  )
  reconciler.setTip(good)
  await runUntil(40 * minute)
  expect(attempts).toEqual([0, 1, 3, 7, 15, 31])
  expect(world.heads.length).toBeGreaterThan(30)
})

it('repeats a commit and a step soon if the database was away, and reports neither', async () => {
  const ends = [away, away]
  const { world, reconciler, runUntil } = stageReconciler({
    apply: () => ends.pop()?.() ?? Promise.resolve({ status: 'done' }),
    advance: () => (world.steps.length < 3 ? away() : Promise.resolve(waits(minute))),
  })
  world.rollouts = [step]
  reconciler.setTip(good)
  await runUntil(20_000)
  expect(world.applied).toHaveLength(3)
  expect(world.steps.map(([, ms]) => ms)).toEqual([0, 5000, 10_000])
  expect(world.reported).toEqual([])
})

it('reports a refused commit and a rollout that is refused a step, the commit once', async () => {
  const { world, reconciler, runUntil } = stageReconciler({ apply: refuse, advance: refuse })
  reconciler.setTip(good)
  await runUntil(40 * minute)
  expect(world.applied.length).toBeGreaterThan(3)
  world.rollouts = [step]
  await runUntil(41 * minute)
  reconciler.setTip(better)
  await runUntil(41 * minute + 1)
  expect(world.reported).toEqual([[good], ['rollout', 'r1'], [better]])
})

it('applies an applied commit again after a drift check that finds something pending', async () => {
  const found = { pending: 0, live: 0, inDoubt: 0 }
  const { world, reconciler, runUntil } = stageReconciler({ drift: () => found }, '*/10 * * * *')
  reconciler.setTip(good)
  await runUntil(15 * minute)
  expect([world.applied.length, world.heads.length]).toEqual([1, 1])
  found.inDoubt = 1
  await runUntil(21 * minute)
  expect([world.applied.length, world.heads.length]).toEqual([2, 2])
})

it('names a schedule of drift checks that has no meaning, and works on', async () => {
  const { world, reconciler, runUntil } = stageReconciler({}, '61 * * * *')
  reconciler.setTip(good)
  await runUntil(minute)
  expect(world.applied).toEqual([good])
})

it('does nothing that sends while all writes are stopped, and all of it after that', async () => {
  const { world, reconciler, runUntil } = stageReconciler({
    advance: async () => waits(60 * minute),
  })
  world.stop = { author: 'ada', knownBy: 'user', at: '2026-11-20T12:00:00.000Z' }
  world.rollouts = [step]
  reconciler.setTip(good)
  await runUntil(10 * minute)
  reconciler.findUnattended()
  expect([world.applied, world.steps, reconciler.found.unattended]).toEqual([[], [], []])
  expect(world.log.filter((line) => line.includes('were stopped by ada'))).toHaveLength(1)
  world.stop = null
  await runUntil(10 * minute + lookMs)
  expect([world.applied, world.steps.map(([id]) => id)]).toEqual([[good], [step.id]])
})

it('repeats a refused step of a rollout after growing waits, and not the tip', async () => {
  const ends = ['incomplete', 'failed', 'not-begun', 'incomplete', 'waiting', 'incomplete', 'none']
  const { world, reconciler, runUntil } = stageReconciler({
    advance: async () => {
      const status = ends.shift() ?? ''
      if (status === 'failed') throw new Error('it fails')
      if (status === 'none') world.rollouts = []
      return status === 'waiting' ? waits(7) : { waitMs: null, status }
    },
  })
  world.rollouts = [step]
  reconciler.setTip(good)
  await runUntil(30 * minute)
  expect(world.steps.map(([, ms]) => ms)).toEqual([
    0,
    ...[1, 3, 7, 12].map((each) => each * minute),
    12 * minute + 7,
    13 * minute + 7,
  ])
  // Once at first, and again what the rollout had left out.
  expect(world.applied).toHaveLength(2)
})

it('keeps secrets out of what clients read about the apply and the fetch', async () => {
  const key = 'key-of-the-origin'
  const stopped = `the service quotes ${key}`
  const fail = (message: string) => {
    throw new Error(message)
  }
  const ends = [() => ({ status: 'incomplete', stopped }), () => fail(`refuses ${key}`)]
  const { reconciler, logger, runUntil } = stageReconciler({
    apply: async () => ends.shift()?.() ?? fail('expected no more'),
  })
  const hide = (text: string) => text.replaceAll(key, '(key)')
  logger.setSecrets({ scrub: hide, redact: hide })
  reconciler.setTip(good)
  await runUntil(1)
  expect(reconciler.found.applied?.message).toBe('the service quotes (key)')
  reconciler.setTip(better)
  await runUntil(2)
  expect(reconciler.found.applied?.message).toBe('refuses (key)')
  reconciler.reportFetch(new Error(`no answer for ${key}`))
  expect(reconciler.found.problem).toBe('branch not fetched: no answer for (key)')
  reconciler.setTip(better)
  expect(reconciler.found.problem).toBe(null)
})

it('is not in sync while the apply of a fetched commit runs', async () => {
  const list = async () => {
    const { text } = await metrics.format('prometheus')
    return text.split('\n').find((line) => line.startsWith('edgewise_branch_in_sync'))
  }
  const during: unknown[] = []
  const { metrics, reconciler, runUntil } = stageReconciler({
    apply: async () => {
      during.push(await list(), reconciler.found.working?.what)
      return { status: 'done' }
    },
  })
  for (const tip of [good, better]) {
    reconciler.setTip(tip)
    await runUntil(1)
    expect(await list()).toMatch(/ 1$/)
  }
  expect(during).toEqual([
    expect.stringMatching(/ 0$/),
    'the apply of commit aaaaaaaaaaaa',
    expect.stringMatching(/ 0$/),
    'the apply of commit cccccccccccc',
  ])
  expect(reconciler.found.working).toBe(null)
})

it('applies the tip again after somebody has ended a rollout with a command', async () => {
  const { world, reconciler, runUntil } = stageReconciler({
    apply: async () => ({ status: 'waiting' }),
  })
  world.rollouts = [listed]
  reconciler.setTip(good)
  await runUntil(2 * lookMs)
  expect(world.applied).toHaveLength(1)
  world.rollouts = []
  await runUntil(4 * lookMs)
  expect(world.applied).toHaveLength(2)
})

it('takes up each rollout that can go on and that nothing works on, within a look', async () => {
  const { world, reconciler, metrics, runUntil } = stageReconciler({
    advance: async () => waits(10 * minute),
  })
  world.rollouts = [{ ...step, id: 'r0' }, listed]
  reconciler.setTip(good)
  await runUntil(minute)
  expect(world.steps).toEqual([['r0', 0]])
  world.rollouts.push(step)
  await runUntil(minute + lookMs)
  expect(world.steps.slice(1)).toEqual([['r1', minute + lookMs]])
  const { text } = await metrics.format('prometheus')
  expect(text).toMatch(/^edgewise_rollouts_taken_up_total\{.*\} 2$/m)
})

it('repeats what has failed at once after it was woken, and ends no pause', async () => {
  const { world, reconciler, runUntil } = stageReconciler({
    apply: refuse,
    advance: (id) => (id === 'r1' ? refuse() : Promise.resolve(waits(10 * minute))),
  })
  world.rollouts = [step, { ...step, id: 'r2' }]
  reconciler.setTip(good)
  await runUntil(1000)
  reconciler.hurry()
  await runUntil(1001)
  expect([world.applied, world.steps]).toEqual([
    [good, good],
    [
      ['r1', 0],
      ['r2', 0],
      ['r1', 1000],
    ],
  ])
})

it('finds rollouts that nothing works on though their step is due', async () => {
  let release = () => {}
  const { world, reconciler, metrics, runUntil } = stageReconciler({
    apply: () => new Promise((resolve) => (release = () => resolve({ status: 'done' }))),
    advance: async () => waits(minute),
  })
  world.rollouts = [step]
  await runUntil(10)
  reconciler.setTip(good)
  void runUntil(20)
  await new Promise(setImmediate)
  // The apply runs, and the next step has been due for a minute.
  world.nowMs = 2 * minute
  reconciler.findUnattended()
  expect(reconciler.found.unattended).toEqual([])
  world.nowMs = 2 * minute + 2
  reconciler.findUnattended()
  reconciler.findUnattended()
  expect(reconciler.found).toMatchObject({
    unattended: ['r1'],
    working: { what: 'the apply of commit aaaaaaaaaaaa' },
  })
  const { text } = await metrics.format('prometheus')
  expect(text).toMatch(/^edgewise_rollouts_unattended\{.*\} 1$/m)
  expect(world.log.filter((line) => line.includes('rollouts unattended'))).toHaveLength(1)
  release()
  await runUntil(3 * minute)
  reconciler.findUnattended()
  expect(reconciler.found.unattended).toEqual([])
})

it('goes by the last good commit while the tip is invalid, and reports that once', async () => {
  const { world, reconciler, metrics, runUntil } = stageReconciler({
    load: (commit) => {
      if (commit === heavy) throw new EdgewiseError('invalid', 'it takes more than 60 seconds')
    },
    advance: async () => waits(minute),
  })
  reconciler.setTip(good)
  await runUntil(1)
  world.rollouts = [step]
  reconciler.setTip(heavy)
  await runUntil(5 * minute)
  expect(new Set(world.heads)).toEqual(new Set([good]))
  expect(world.heads.length).toBeGreaterThan(3)
  expect(reconciler.found).toMatchObject({
    commit: heavy,
    applied: { commit: heavy, status: 'failed', message: 'it takes more than 60 seconds' },
    problem: null,
  })
  expect(world.reported).toEqual([[heavy]])
  const { text } = await metrics.format('prometheus')
  expect(text).toMatch(/^edgewise_invalid_commits_total\{.*\} 1$/m)
  reconciler.setTip(better)
  await runUntil(7 * minute)
  expect([world.heads.at(-1), world.applied]).toEqual([better, [good, better]])
})

it('begins nothing after its term', async () => {
  const { world, reconciler, runUntil } = stageReconciler({ advance: async () => waits(minute) })
  world.rollouts = [step]
  reconciler.setTip(good)
  await runUntil(10)
  world.isLeading = false
  void runUntil(5 * minute)
  await new Promise(setImmediate)
  expect([world.applied.length, world.steps.length]).toEqual([1, 1])
})

function waits(waitMs: number): { waitMs: number; status: string } {
  return { waitMs, status: 'waiting' }
}

itLong('counts traffic every six hours, and holds no other work up meanwhile', async () => {
  let isSlow = false
  const { world, reconciler, runUntil } = stageReconciler({
    count: () => (isSlow ? new Promise(() => {}) : Promise.resolve()),
  })
  reconciler.setTip(good)
  await runUntil(13 * 60 * minute)
  expect(world.counted).toEqual([10, 370, 730].map((at) => [good, at * minute]))
  isSlow = true
  await runUntil(19 * 60 * minute)
  reconciler.setTip(better)
  await runUntil(32 * 60 * minute)
  expect(world.counted).toHaveLength(4)
  expect(world.applied).toEqual([good, better])
})
