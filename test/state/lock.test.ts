import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import {
  acquireLock,
  endLock,
  findLockHolder,
  leaseMs,
  type Machine,
} from '../../src/state/lock.ts'
import { type LockHolder } from '../../src/state/lock.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { Register } from '../../src/state/register.ts'
import { FakeClock } from '../service/fake-clock.ts'

let folder: string
let clock: FakeClock
let asleepMs: number
let register: Register
const never = new AbortController().signal
const here: Machine = {
  boot: 'boot-1',
  namespace: 'pid:[1]',
  pid: 4711,
  uptime: () => clock.time + asleepMs,
  processName: 'me',
  isRunning: () => true,
}
const holder = (token: string, more: Partial<LockHolder> = {}): LockHolder => ({
  token,
  who: `${token}@host`,
  reason: 'apply',
  since: '2026-11-20T00:00:00.000Z',
  boot: 'boot-1',
  namespace: 'pid:[1]',
  pid: 4711,
  ...more,
})
const take = (token: string, timeoutMs = 0, machine = here) =>
  acquireLock(register, holder(token), machine, timeoutMs, clock, never)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-lock-'))
  clock = new FakeClock()
  asleepMs = 0
  register = createFolderRegister(realDisk, join(folder, 'lock'), 'me')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the lock', () => {
  it('reports a wait once, with the holder and its maximum', async () => {
    const reported: unknown[] = []
    const wait = (timeoutMs: number) =>
      acquireLock(register, holder('next'), here, timeoutMs, clock, never, (other, ms) =>
        reported.push([other?.who, ms]),
      )
    const lease = await wait(5000)
    await expect(wait(0)).rejects.toMatchObject({ code: 'locked' })
    expect(reported).toEqual([])
    await expect(clock.drive(wait(5000))).rejects.toMatchObject({ code: 'locked' })
    expect(reported).toEqual([['next@host', 5000]])
    await lease.release()
  })

  it('has one holder at a time, and names it', async () => {
    const lease = await take('first')
    await expect(take('second')).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('first@host (process 4711') as string,
    })
    await lease.release()
    const next = await take('second')
    expect((await findLockHolder(register))?.token).toBe('second')
    await next.release()
    expect(await findLockHolder(register)).toBeNull()
  })

  it('can be waited for', async () => {
    const lease = await take('first')
    const second = take('second', 60_000)
    await clock.advance(30_000)
    await lease.release()
    expect(await clock.drive(second)).toBeDefined()
  })

  it('of a dead process of this machine is taken over immediately', async () => {
    await take('first')
    const lease = await take('second', 0, { ...here, isRunning: () => false })
    expect(await lease.remainingMs()).toBeGreaterThan(0)
  })

  it('of a process elsewhere is not: its pid means nothing here', async () => {
    await take('first')
    await expect(
      take('second', 0, { ...here, boot: 'boot-2', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
    await expect(
      take('second', 0, { ...here, namespace: 'pid:[9]', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
    await endLock(register, 'first')
    await acquireLock(register, holder('third', { boot: '' }), here, 0, clock, never)
    await expect(
      take('second', 0, { ...here, boot: '', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
  })

  it('of a live holder is never taken over, however long the wait', async () => {
    const lease = await take('first')
    const second = take('second', 10 * leaseMs)
    await expect(clock.drive(second)).rejects.toMatchObject({ code: 'locked' })
    expect(await lease.remainingMs()).toBeGreaterThan(leaseMs / 2)
  })

  it('without heartbeats is taken over after a whole lease, and not before', async () => {
    // Written long ago by the clock of another machine, which proves nothing.
    await register.compareAndSwap(null, JSON.stringify(holder('gone', { boot: 'boot-2' })))
    const start = clock.time
    const lease = await clock.drive(take('second', 10 * leaseMs))
    expect(clock.time - start).toBeGreaterThanOrEqual(leaseMs)
    expect(clock.time - start).toBeLessThan(leaseMs + 5000)
    expect(await lease.remainingMs()).toBeGreaterThan(0)
  })

  it('that was removed is lost to its holder, whose release does nothing', async () => {
    const lease = await take('first')
    expect(await endLock(register, 'first')).toBe(true)
    expect(await endLock(register, 'first')).toBe(false)
    expect(await lease.remainingMs()).toBe(0)
    const second = await take('second')
    await lease.release()
    expect((await findLockHolder(register))?.token).toBe('second')
    expect(await second.remainingMs()).toBeGreaterThan(0)
  })

  it('of a dead holder goes to one successor only', async () => {
    await take('first')
    const gone = { ...here, isRunning: () => false }
    const seen = await register.read()
    await acquireLock(register, holder('a', { pid: 1 }), gone, 0, clock, never)
    expect(await register.compareAndSwap(seen.version, JSON.stringify(holder('b')))).toBeNull()
    expect((await findLockHolder(register))?.token).toBe('a')
  })

  it('without a name has a holder: it is not taken over, and can be removed', async () => {
    await register.compareAndSwap(null, '{"token": 5, "who"')
    await expect(take('second')).rejects.toMatchObject({
      message: expect.stringContaining('an unknown user') as string,
    })
    expect(await endLock(register, (await findLockHolder(register))?.token ?? '')).toBe(true)
    expect(await take('second')).toBeDefined()
  })

  it('expires if heartbeats fail, and recovers with the next one', async () => {
    let reachable = true
    const far: Register = {
      ...register,
      isLocal: false,
      compareAndSwap: (version, text) =>
        reachable ? register.compareAndSwap(version, text) : Promise.reject(new Error('no route')),
    }
    const lease = await acquireLock(far, holder('first'), here, 0, clock, never)
    reachable = false
    await clock.advance(60_000)
    expect(await lease.remainingMs()).toBeLessThanOrEqual(leaseMs - 60_000)
    reachable = true
    await clock.advance(20_000)
    expect(await lease.remainingMs()).toBeGreaterThan(leaseMs - 20_000)
    await lease.release()
  })

  it('expires while its machine is asleep, although the monotonic clock stops', async () => {
    const lease = await acquireLock(
      { ...register, isLocal: false },
      holder('first'),
      here,
      0,
      clock,
      never,
    )
    asleepMs = 80_000
    expect(await lease.remainingMs()).toBe(leaseMs - 80_000)
    await clock.advance(20_000)
    expect(await lease.remainingMs()).toBeGreaterThan(leaseMs - 20_000)
    await lease.release()
  })

  it('is kept if a heartbeat was stored and its answer was lost', async () => {
    let lossy = false
    const far: Register = {
      ...register,
      isLocal: false,
      compareAndSwap: async (version, text) => {
        const swapped = await register.compareAndSwap(version, text)
        if (lossy) throw new Error('the answer was lost')
        return swapped
      },
    }
    const lease = await acquireLock(far, holder('first'), here, 0, clock, never)
    lossy = true
    await clock.advance(20_000)
    lossy = false
    await clock.advance(40_000)
    expect(await lease.remainingMs()).toBeGreaterThan(leaseMs - 20_000)
    await lease.release()
    expect(await findLockHolder(register)).toBeNull()
  })
})
