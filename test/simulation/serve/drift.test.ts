// @module-tag often
import { expect, it } from 'vitest'
import { createItemState, type Snapshot } from '../../../src/core/model/item.ts'
import { runSealed } from '../seal.ts'
import { hour, LongWorld, minute, ServeWorld } from './serve-world.ts'

const domains = Array.from({ length: 6 }, (_, i) => `d${i}.example.com`)
const pauseSeconds = 3600
const rollout = {
  waves: [{ count: 1 }, { percent: 100 }],
  first: [],
  pause: pauseSeconds,
  approval: [],
  approvers: { by: 1, notAuthor: false },
  by: 'domains' as const,
  revert: 'waves' as const,
  health: null,
}

function ask(host: string): Snapshot {
  return new Map(
    domains.map((domain) => [domain, new Map([['origin_host', createItemState({ host })]])]),
  )
}

it('a repair that waits between its waves does not keep commits waiting', async () => {
  const world = new LongWorld()
  const stage = new ServeWorld(world, 'repair', { rollout })
  const countHosts = (host: string) =>
    domains.filter((each) => JSON.stringify(stage.service.holds(each).get('origin_host')) === host)
      .length
  const byHand = '{"host":"hand.example.net"}'
  const story = async () => {
    stage.repository.push(ask('one.example.net'))
    stage.start()
    await stage.wait(3 * hour)
    for (const domain of domains.slice(0, 4))
      stage.service.change(domain, 'origin_host', { host: 'hand.example.net' })
    // The next drift check repairs the first one, and the rollout pauses.
    await stage.wait(20 * minute)
    expect(countHosts(byHand)).toBe(3)
    const added: Snapshot = new Map([
      ...stage.repository.desired,
      ['new.example.com', new Map([['origin_host', createItemState({ host: 'a.net' })]])],
    ])
    stage.repository.push(added)
    await stage.wait(10 * minute)
    expect(stage.service.holds('new.example.com').get('origin_host')).toEqual({ host: 'a.net' })
    expect(countHosts(byHand)).toBe(3)
    await stage.wait(3 * hour)
    expect(countHosts(byHand)).toBe(0)
    expect([...(await stage.listDrift())]).toEqual([])
    // Pages that fail, as here, are logged, and harm nothing else.
    expect(stage.log.filter((line) => line.includes('pages of domains')).length).toBeGreaterThan(0)
    await stage.stop()
  }
  await runSealed(world, () => world.passUntil(story(), 24 * hour))
  expect(world.violations).toEqual([])
})

it('drift checks that take longer than their interval do not pile up', async () => {
  const world = new LongWorld()
  const stage = new ServeWorld(world, 'slow', {})
  stage.observeMs = 40 * minute
  const story = async () => {
    stage.repository.push(ask('one.example.net'))
    stage.start()
    await stage.wait(6 * hour)
    expect(
      stage.log.filter((line) => line.includes('drift checked verified=6')).length,
    ).toBeGreaterThan(3)
    await stage.stop()
  }
  await runSealed(world, () => world.passUntil(story(), 24 * hour))
  expect(world.violations).toEqual([])
})

it('drift is repaired while a rollout is open on other domains', async () => {
  const world = new LongWorld()
  const stage = new ServeWorld(world, 'open', { rollout })
  const getHost = (domain: string) => stage.service.holds(domain).get('origin_host')
  const story = async () => {
    stage.repository.push(ask('one.example.net'))
    stage.start()
    await stage.wait(3 * hour)
    const changed = [...ask('two.example.net')].slice(0, 2)
    stage.repository.push(new Map([...stage.repository.desired, ...changed]))
    await stage.wait(6 * minute)
    // The first one was changed, and the rollout pauses before the second one.
    expect(getHost('d0.example.com')).toEqual({ host: 'two.example.net' })
    for (const domain of ['d1.example.com', 'd4.example.com'])
      stage.service.change(domain, 'origin_host', { host: 'hand.example.net' })
    await stage.wait(20 * minute)
    expect(getHost('d1.example.com')).toEqual({ host: 'hand.example.net' })
    expect(getHost('d4.example.com')).toEqual({ host: 'one.example.net' })
    await stage.wait(3 * hour)
    expect([...(await stage.listDrift())]).toEqual([])
    await stage.stop()
  }
  await runSealed(world, () => world.passUntil(story(), 24 * hour))
  expect(world.violations).toEqual([])
})
