import { expect } from 'vitest'
import type { RealRuns } from '../long/real-runs.ts'

const domains = Array.from({ length: 20 }, (_, i) => `d${i}.example.com`)

/** Kills an apply in its second wave: one batch is in-doubt, and the next apply settles it. */
export async function killInWave(real: RealRuns): Promise<void> {
  // A batch has the writes of a minute, and the next one is recorded while it is sent.
  real.workspace(
    'limits: {callsPerMinute: 4, domainsPerWrite: 1}\nrollout: {waves: [1, 100%], pause: 1s}',
  )
  for (const [i, domain] of domains.entries())
    real.manifest(domain, { timeout: { time: String(10 + i) } })
  const killed = await real.run(['apply', '--yes'], undefined, (stderr, child) => {
    if (stderr.split('confirmed').length > 2) child.kill('SIGKILL')
  })
  expect(killed.signal).toBe('SIGKILL')
  const recorded = [...(await real.loadRecorded())].map(
    ([domain, items]) => [domain, items.get('timeout')?.status] as const,
  )
  const inDoubt = recorded.filter(([, status]) => status === 'in-doubt').length
  expect({ recorded, inDoubt: inDoubt >= 1 && inDoubt <= 8 }).toMatchObject({ inDoubt: true })
  expect(recorded).toContainEqual([expect.any(String), 'confirmed'])

  real.workspace('limits: {callsPerMinute: 10000}')
  const next = await real.run(['apply', '--yes', '--lock-timeout', '60'])
  expect([next.code, next.err]).toEqual([0, expect.stringContaining('in-doubt')])
  const { domains: actual } = await real.look<{ domains: Record<string, object> }>('state')
  for (const [i, domain] of domains.entries())
    expect(actual[domain]).toEqual({ timeout: { time: String(10 + i) } })
  expect((await real.run(['plan', '--detailed-exitcode'])).code).toBe(0)
}
