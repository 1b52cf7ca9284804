import { describe, expect, it } from 'vitest'
import type { DomainStatistics } from '../../src/outlets/report/live/status-codes.ts'
import { createDomainStatistics } from '../../src/server/pages/domain-statistics.ts'

/** A source whose clock a test moves, with the domains that it has queried. */
function createSource() {
  const world = { nowMs: 0, asked: [] as string[] }
  const get = createDomainStatistics({ monotonic: () => world.nowMs }, (domain) => {
    world.asked.push(domain)
    return Promise.resolve<DomainStatistics>({ fault: `${domain} is away` })
  })
  return { world, get }
}

describe('the status codes of domains', () => {
  it('are queried once for all readers, and for five minutes', async () => {
    const { world, get } = createSource()
    expect(await Promise.all([get('a'), get('a')])).toEqual([
      { fault: 'a is away' },
      { fault: 'a is away' },
    ])
    world.nowMs = 299_999
    await get('a')
    expect(world.asked).toEqual(['a'])
    world.nowMs = 300_000
    await get('a')
    expect(world.asked).toEqual(['a', 'a'])
  })

  it('are queried of a few domains a minute', async () => {
    const { world, get } = createSource()
    for (let i = 0; i < 8; i++) await get(`d${i}`)
    expect(world.asked).toHaveLength(6)
    expect(await get('d7')).toEqual({ fault: expect.stringContaining('again in a minute') })
    expect(await get('d5')).toEqual({ fault: 'd5 is away' })
    world.nowMs = 60_000
    expect(await get('d7')).toEqual({ fault: 'd7 is away' })
  })
})
