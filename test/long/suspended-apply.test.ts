// @module-tag often
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { maxLookAgeMs } from '../../src/state/lease.ts'
import { RealRuns, type Ended } from './real-runs.ts'

const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.com`)

/** Starts an apply and suspends it after its first confirmed write. */
function applyUntilSuspended(
  real: RealRuns,
): Promise<{ child: ChildProcess; ended: Promise<Ended> }> {
  return new Promise((resolve) => {
    let isSuspended = false
    const ended: Promise<Ended> = real.run(['apply', '--yes'], undefined, (stderr, child) => {
      if (isSuspended || !stderr.includes('confirmed')) return
      isSuspended = true
      child.kill('SIGSTOP')
      resolve({ child, ended })
    })
  })
}

it('an apply that loses its lock while it is suspended sends nothing more', async () => {
  const real = await RealRuns.start([
    '--calls-per-minute',
    '0',
    '--fault',
    'delay:ms=300,probability=1',
  ])
  try {
    real.workspace('limits: {callsPerMinute: 10000, domainsPerWrite: 1}')
    for (const [i, domain] of domains.entries())
      real.manifest(domain, { timeout: { time: String(10 + i) } })
    const { child, ended } = await applyUntilSuspended(real)
    const stoppedAt = performance.now()

    const refused = await real.run(['state', 'unlock', '--yes'])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.err).toContain(`(process ${child.pid}, since `)
    expect(refused.err).toContain('--force')
    expect((await real.run(['state', 'unlock', '--force', '--yes'])).code).toBe(0)
    const before = (await real.look<unknown[]>('calls')).length
    await sleep(maxLookAgeMs - (performance.now() - stoppedAt))
    child.kill('SIGCONT')

    const { code, err } = await ended
    expect({ code, err }).toMatchObject({
      code: 3,
      err: expect.stringContaining('the lock was removed with "edgewise state unlock"') as string,
    })
    expect((await real.look<unknown[]>('calls')).length).toBe(before)
    // It has noticed, so the next apply need not wait.
    const next = await real.run(['apply', '--yes'])
    expect({ code: next.code, err: next.err }).toMatchObject({
      code: 0,
      err: expect.not.stringContaining('waiting') as string,
    })
    expect((await real.run(['plan', '--detailed-exitcode'])).code).toBe(0)
    const { domains: actual } = await real.look<{ domains: Record<string, object> }>('state')
    for (const [i, domain] of domains.entries())
      expect(actual[domain]).toEqual({ timeout: { time: String(10 + i) } })
  } finally {
    real.end()
  }
})
