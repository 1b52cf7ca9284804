import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { fetchConfig, type Place } from '../steps/cli.ts'
import type { SharedState } from './shared-state.ts'

export const deadOrigin = '192.0.2.66'
const good = '192.0.2.10'
const domains = Array.from({ length: 4 }, (_, i) => `d${i}.example.com`)
const [first = ''] = domains

/** Builds rules by which one domain is changed first, and a wave that breaks it is rolled back. */
export const buildRules = (more = '') =>
  `rollout: {waves: [1, 100%], first: [${first}], pause: 1m${more}}\n`
export const health = ', health: {onFailure: rollback, grain: hour, window: 1h}'

/** Commits the profile of all domains. */
async function commit(shared: SharedState, place: Place, origin: string, more = ''): Promise<void> {
  for (const domain of domains)
    place.write(`domains/${domain}.yaml`, `domain: ${domain}\nprofiles: [web]\nconfig: {}\n`)
  const config = `  origin: {default_master: ${origin}}\n${more}`
  place.write('profiles/web.yaml', `profile: web\nconfig:\n${config}`)
  await shared.commit()
}

/** Applies without waves. */
async function apply(place: Place, ...args: string[]): Promise<void> {
  const { code, err } = await place.cli('apply', '--yes', '--no-waves', ...args)
  expect([code, err]).toEqual([0, err])
}

/** Expects these origins and time-outs of the domains. */
async function expectLive(emulator: Emulator, origins: string[], time?: string): Promise<void> {
  const live = await Promise.all(domains.map((domain) => fetchConfig(emulator, domain)))
  const [origin, timeout] = ['origin', 'timeout'].map((item) =>
    live.map((config) => config[item] as Record<string, unknown> | undefined),
  )
  expect(origin?.map((value) => value?.['default_master'])).toEqual(origins)
  expect(timeout?.map((value) => value?.['time'])).toEqual(domains.map(() => time))
}

/** Expects that a plan marks values on hold, and nothing else is to be done. */
async function expectOnHold(place: Place, count: number, by: RegExp): Promise<void> {
  const { code, out, err } = await place.cli('plan', '--detailed-exitcode')
  expect([code, out]).toEqual([2, expect.stringContaining(`${count} changes on hold.`)])
  expect(out).not.toMatch(/No changes|192\.0\.2/)
  expect(err.replace(/\s+/g, ' ')).toMatch(by)
  expect(err).toContain('--retry-held')
}

/** Expects how many changes a plan has, which says why the others are on hold. */
async function expectPlanned(
  place: Place,
  counts: Record<'set' | 'change' | 'held', number>,
): Promise<void> {
  const { summary, onHold = [] } = await place.json('plan')
  expect(summary).toMatchObject(counts)
  expect(onHold).toHaveLength(counts.held)
  for (const each of onHold as object[])
    expect(each).toMatchObject({
      item: 'origin',
      since: expect.stringMatching(/^\d{4}-/) as string,
      reason: expect.stringContaining('wave 1 of 2') as string,
    })
}

/**
 * A value that a health check has rolled back is sent by no other commit, until somebody repeats
 * it; other items and other values are.
 *
 * @param pass lets hours pass at the service
 */
export async function stayAway(
  shared: SharedState,
  place: Place,
  emulator: Emulator,
  pass: (hours: number) => void,
): Promise<void> {
  await commit(shared, place, good)
  await apply(place)
  pass(4)
  await commit(shared, place, deadOrigin)
  // The first wave is sent; hours later another process judges it.
  expect((await place.cli('apply', '--yes', '--no-wait')).code).toBe(0)
  await expectLive(emulator, [deadOrigin, good, good, good])
  pass(4)
  const judged = await place.cli('apply', '--yes')
  expect([judged.code, judged.out]).toEqual([3, expect.stringContaining('Rolled back')])
  const held = /on hold since \S+ \S+ UTC by rollout \S+, rolled back: wave 1 of 2: 5xx/
  await expectOnHold(place, 4, held)

  await commit(shared, place, deadOrigin, '  timeout: {time: 70}\n')
  await expectPlanned(place, { set: 4, change: 0, held: 4 })
  expect((await place.json('drift'))['summary']).toMatchObject({ held: 4 })
  await apply(place)
  await expectLive(emulator, [good, good, good, good], '70')
  await expectOnHold(place, 4, held)
  await apply(place, '--retry-held', '--target', first)
  await expectLive(emulator, [deadOrigin, good, good, good], '70')
  await expectOnHold(place, 3, held)

  await commit(shared, place, '192.0.2.11', '  timeout: {time: 70}\n')
  await expectPlanned(place, { set: 0, change: 4, held: 0 })
  await apply(place)
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  await commit(shared, place, deadOrigin, '  timeout: {time: 70}\n')
  await expectPlanned(place, { set: 0, change: 1, held: 3 })
}

/** What an aborted rollout has not sent is on hold, too. */
export async function stayAborted(
  shared: SharedState,
  place: Place,
  emulator: Emulator,
): Promise<void> {
  await commit(shared, place, good)
  await apply(place)
  await commit(shared, place, '192.0.2.11')
  expect((await place.cli('apply', '--yes', '--no-wait')).code).toBe(0)
  const [rollout] = (await place.json('rollout', 'list'))['rollouts'] as { id: string }[]
  expect((await place.cli('rollout', 'abort', `${rollout?.id}`, '--yes')).code).toBe(0)
  await commit(shared, place, '192.0.2.11', '  timeout: {time: 70}\n')
  await apply(place)
  await expectLive(emulator, ['192.0.2.11', good, good, good], '70')
  await expectOnHold(place, 3, /on hold since \S+ \S+ UTC by rollout \S+, stopped: aborted by/)
}
