// @module-tag often
import { expect, it } from 'vitest'
import { Place } from './cli.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

setStageInTime()

const name = (i: number) => `d${i}.example.com`

/** Applies domains with a time-out, and returns which applies were of the whole, first to last. */
async function apply(seconds: number[], ...args: string[]): Promise<boolean[]> {
  seconds.forEach((each, i) => place.manifest(name(i), { timeout: { time: each } }))
  time.now += 60_000
  const { code, err } = await place.cli('apply', '--yes', ...args)
  expect([code, err]).toEqual([0, err])
  const { applies } = await place.json('state', 'history')
  return (applies as { whole?: true }[]).map(({ whole }) => whole === true).toReversed()
}

it('an apply is of the whole of a commit unless it leaves something to others', async () => {
  enterPlace(new Place(emulator.url))
  expect(await apply([60, 60])).toEqual([true])
  expect(await apply([61, 61], '--target', name(0))).toEqual([true, false])
  expect(await apply([61, 61], '--item', 'timeout')).toEqual([true, false, false])
  time.now += 60_000
  await place.cli('rollback', '--yes')
  const { applies } = await place.json('state', 'history')
  expect((applies as { whole?: true }[])[0]?.whole).toBeUndefined()
})

it('the last wave of a rollout is, and no earlier one', async () => {
  enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 2, 100%], pause: 1m}\n'))
  expect(await apply([60, 60, 60, 60])).toEqual([false, false, true])
  expect(await apply([60, 60, 60, 61])).toEqual([false, false, true, true])
})

it('a wave that is sent again is of a part, however many applies it took', async () => {
  enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 1m, approval: [1, 2]}\n'))
  const approve = () => place.cli('rollout', 'approve', place.loadRollouts()[0]?.id ?? '')
  expect(await apply([60, 60])).toEqual([])
  await approve()
  const { env } = place
  place.env = { ...env, EDGEWISE_TOKEN: 'wrong' }
  expect((await place.cli('apply', '--yes')).code).toBe(1)
  place.env = env
  // The second apply of two waves has the first wave.
  expect(await apply([60, 60])).toEqual([false, false])
  await approve()
  expect(await apply([60, 60])).toEqual([false, false, true])
})
