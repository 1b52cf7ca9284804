import { describe, expect, it } from 'vitest'
import { judgeWave } from '../../src/core/health/judge.ts'
import { queryCounts } from '../../src/operations/submission/run-rollout.ts'
import { computeWindows } from '../../src/core/health/windows.ts'
import type { WaveHealth } from '../../src/core/model/health.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { createWorld, type World } from '../emulator/world.ts'
import { createTestClient, createEmulatorTransport } from '../service/query-world.ts'

const rule = {
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5' as const,
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
}
const domains = Array.from({ length: 30 }, (_, i) => `d${i}.example.com`)
const [good, dead] = ['192.0.2.10', '192.0.2.66']

async function setOrigin(service: World, names: string[], address: string): Promise<void> {
  for (let i = 0; i < names.length; i += 10) {
    const { status } = await service.write(
      { origin: { default_master: address } },
      names.slice(i, i + 10).join(','),
    )
    expect(status).toBe(200)
  }
}

/**
 * Writes to all domains, some of them with a dead origin, and judges when the windows are complete.
 */
async function runWave(broken: string[]): Promise<WaveHealth> {
  const service = createWorld({ token: null, deadOrigins: [dead] })
  const write = (names: string[], address: string) => setOrigin(service, names, address)
  await write(domains, good)
  service.clock.now += 2 * 3_600_000 + 140_000
  const first = service.clock.now
  await write(
    domains.filter((domain) => !broken.includes(domain)),
    '192.0.2.11',
  )
  if (broken.length > 0) await write(broken, dead)
  const { before, after, readyAt } = computeWindows(
    first,
    service.clock.now,
    rule,
    createTimeZone('UTC'),
  )
  service.clock.now = readyAt
  const { queries, clock } = createTestClient(createEmulatorTransport(service))
  clock.time = readyAt
  const [earlier, later] = [
    await queryCounts(queries, domains, before, { grain: rule.grain }),
    await queryCounts(queries, domains, after, { grain: rule.grain }),
  ]
  expect([earlier.size, later.size]).toEqual([30, 30])
  return judgeWave(earlier, later, rule)
}

describe('a wave on the emulator', () => {
  it('is the same or better if nothing breaks', async () => {
    const health = await runWave([])
    expect(health.verdict).toBe('same-or-better')
    expect(health.whole.before.requests).toBeGreaterThan(100_000)
  })

  it('is worse for one domain only if its origin breaks', async () => {
    const health = await runWave(['d7.example.com'])
    expect(health.verdict).toBe('worse')
    expect(
      [...health.domains]
        .filter(([, { verdict }]) => verdict === 'worse')
        .map(([domain]) => domain),
    ).toEqual(['d7.example.com'])
  })

  it('is worse for all domains if all origins break', async () => {
    const health = await runWave(domains)
    expect([...health.domains.values()].every(({ verdict }) => verdict === 'worse')).toBe(true)
    expect(health.whole.verdict).toBe('worse')
  })
})
