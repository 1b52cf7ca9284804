import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { maxLookAgeMs } from '../../src/state/locks/lease.ts'
import type { Ended, RealRuns } from '../long/real-runs.ts'

export const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.com`)

/** Options of an emulator whose calls are in flight long enough to suspend an apply. */
export const slowCalls: (string | Fault)[] = [
  '--calls-per-minute',
  '0',
  { kind: 'delay', ms: 1500 },
]

/** Time in which the calls that follow a confirmed write have left the process, ms. */
const leaveMs = 700

/**
 * Starts an apply and suspends it after its first confirmed write, while calls are in flight: one
 * that is suspended between its last check and its first byte is sent when the apply resumes.
 */
function applyUntilSuspended(
  real: RealRuns,
): Promise<{ child: ChildProcess; ended: Promise<Ended> }> {
  return new Promise((resolve) => {
    let isSuspended = false
    const ended: Promise<Ended> = real.run(['apply', '--yes'], undefined, (stderr, child) => {
      if (isSuspended || !stderr.includes('confirmed')) return
      isSuspended = true
      setTimeout(() => {
        child.kill('SIGSTOP')
        resolve({ child, ended })
      }, leaveMs)
    })
  })
}

/**
 * Suspends an apply, removes its lock, and resumes it: it sends nothing more.
 *
 * @param takeOver called after the removal; calls `resume`, which ends with the apply
 */
export async function suspendApply(
  real: RealRuns,
  takeOver: (resume: () => Promise<void>) => Promise<void> = (resume) => resume(),
): Promise<void> {
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
  await takeOver(async () => {
    await sleep(maxLookAgeMs - (performance.now() - stoppedAt))
    // By now the emulator has listed those that were in flight, which it does when it answers.
    const before = (await real.look<unknown[]>('calls')).length
    child.kill('SIGCONT')
    const { code, err } = await ended
    const reason = /the lock was (removed with "edgewise state unlock"|lost; it is now used by)/
    expect([code, err]).toEqual([3, expect.stringMatching(reason)])
    expect((await real.look<unknown[]>('calls')).length).toBe(before)
  })
  // It has noticed, so the next apply need not wait for it: only, perhaps, for an abandoned call.
  const next = await real.run(['apply', '--yes'])
  expect([next.code, next.err]).toEqual([
    0,
    expect.not.stringContaining('that process may still run'),
  ])
  expect((await real.run(['plan', '--detailed-exitcode'])).code).toBe(0)
  const { domains: actual } = await real.look<{ domains: Record<string, object> }>('state')
  for (const [i, domain] of domains.entries())
    expect(actual[domain]).toEqual({ timeout: { time: String(10 + i) } })
}
