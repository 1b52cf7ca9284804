import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Disk } from '../../src/state/folder/disk.ts'
import { createFolderRegister } from '../../src/state/folder/folder-register.ts'
import { formatLock, type LockHolder } from '../../src/state/format/lock-file.ts'
import { leaseMs } from '../../src/state/locks/lease.ts'
import {
  accountScope,
  computeRevokedWait,
  createAccountLock,
  type Contender,
} from '../../src/state/locks/locks.ts'
import { isAliveHere, type Machine } from '../../src/state/locks/machine.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { Register } from '../../src/state/store/register.ts'
import { FakeClock } from '../service/fake-clock.ts'
import { itLong } from '../runs.ts'

/** A power cut is not tested here, and a sync would outlast the fake clock. */
const disk: Disk = { ...realDisk, sync: () => Promise.resolve() }
let folder: string
let clock: FakeClock
let asleepMs: number
let register: Register
const never = new AbortController().signal
const here: Machine = {
  boot: 'boot-1',
  namespace: 'pid:[1]',
  pid: 4711,
  started: '77',
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
  started: '77',
  lateMs: 40_000,
  ...more,
})
const acquire = (own: LockHolder, machine: Machine, more: Partial<Contender> = {}, at = register) =>
  createAccountLock(at).acquire(accountScope, {
    holder: own,
    machine,
    timeoutMs: 0,
    clock,
    signal: never,
    ...more,
  })
const findHolder = async () => {
  const [found = null] = await createAccountLock(register).listHolders(accountScope)
  return found
}
const revoke = (token: string, machine: Machine) =>
  createAccountLock(register).revoke(token, machine)
const take = (token: string, timeoutMs = 0, machine = here) =>
  acquire(holder(token), machine, { timeoutMs })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-lock-'))
  clock = new FakeClock()
  asleepMs = 0
  register = createFolderRegister(disk, join(folder, 'lock'), 'me')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the lock', () => {
  it('reports a wait once, with the holder and its maximum', async () => {
    const reported: unknown[] = []
    const wait = (timeoutMs: number) =>
      acquire(holder('next'), here, {
        timeoutMs,
        onWait: (other, ms) => reported.push([other?.who, ms]),
      })
    const lease = await wait(5000)
    await expect(wait(0)).rejects.toMatchObject({ code: 'locked' })
    expect(reported).toEqual([])
    await expect(clock.drive(wait(5000))).rejects.toMatchObject({ code: 'locked' })
    expect(reported).toEqual([['next@host', 5000]])
    await lease.release()
  })

  it.each<[string, Partial<Machine>, RegExp]>([
    ['runs here', {}, /^It runs on this machine\. Wait for it .*, or end it with "kill 4711"/],
    ['may run elsewhere', { boot: 'boot-2' }, /^Wait .*if that process has ended, .*unlock"\.$/],
  ])('is refused with a hint that fits a holder that %s', async (_where, machine, hint) => {
    const lease = await take('first')
    await expect(take('second', 0, { ...here, ...machine })).rejects.toMatchObject({
      code: 'locked',
      hint: expect.stringMatching(hint) as string,
    })
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
    expect((await findHolder())?.token).toBe('second')
    await next.release()
    expect(await findHolder()).toBeNull()
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
    expect(lease.check(0)).toBe('clear')
  })

  it('of a process elsewhere is not: its pid means nothing here', async () => {
    await take('first')
    await expect(
      take('second', 0, { ...here, boot: 'boot-2', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
    await expect(
      take('second', 0, { ...here, namespace: 'pid:[9]', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
    await revoke('first', here)
    await acquire(holder('third', { boot: '' }), here)
    await expect(
      take('second', 0, { ...here, boot: '', isRunning: () => false }),
    ).rejects.toMatchObject({ code: 'locked' })
  })

  itLong('of a live holder is never taken over, however long the wait', async () => {
    const lease = await take('first')
    const second = take('second', 10 * leaseMs)
    await expect(clock.drive(second)).rejects.toMatchObject({ code: 'locked' })
    await lease.look()
    expect(lease.check(leaseMs / 2)).toBe('clear')
  })

  it('without heartbeats is taken over after a whole lease, and not before', async () => {
    // Written long ago by the clock of another machine, which proves nothing.
    await register.compareAndSwap(null, JSON.stringify(holder('gone', { boot: 'boot-2' })))
    const start = clock.time
    const lease = await clock.drive(take('second', 10 * leaseMs))
    expect(clock.time - start).toBeGreaterThanOrEqual(leaseMs)
    expect(clock.time - start).toBeLessThan(leaseMs + 5000)
    expect(lease.check(0)).toBe('clear')
  })

  it('that was removed is lost to its holder, whose release does nothing', async () => {
    const lease = await take('first')
    expect(await revoke('first', here)).toBe(true)
    expect(await revoke('first', here)).toBe(false)
    await lease.look()
    expect(lease.check(0)).toEqual({ refused: expect.stringContaining('unlock') as string })
    const second = await take('second')
    await lease.release()
    expect((await findHolder())?.token).toBe('second')
    await second.look()
    expect(second.check(0)).toBe('clear')
  })

  it('of a dead holder goes to one successor only', async () => {
    await take('first')
    const gone = { ...here, isRunning: () => false }
    const seen = await register.read()
    await acquire(holder('a', { pid: 1 }), gone)
    expect(await register.compareAndSwap(seen.version, JSON.stringify(holder('b')))).toBeNull()
    expect((await findHolder())?.token).toBe('a')
  })

  it('without a name has a holder: it is not taken over, and can be removed', async () => {
    await register.compareAndSwap(null, '{"token": 5, "who"')
    await expect(take('second')).rejects.toMatchObject({
      message: expect.stringContaining('an unknown user') as string,
    })
    const token = (await findHolder())?.token ?? ''
    expect(await revoke(token, here)).toBe(true)
    expect(await take('second')).toBeDefined()
  })

  it('expires if heartbeats fail, and recovers with the next one', async () => {
    let reachable = true
    const far: Register = {
      ...register,
      compareAndSwap: (version, text) =>
        reachable ? register.compareAndSwap(version, text) : Promise.reject(new Error('no route')),
    }
    const lease = await acquire(holder('first'), here, {}, far)
    reachable = false
    await clock.advance(60_000)
    expect(lease.check(leaseMs - 60_000)).toMatchObject({
      refused: expect.stringContaining('about to expire') as string,
    })
    reachable = true
    await clock.advance(20_000)
    await lease.look()
    expect(lease.check(leaseMs - 20_000)).toBe('clear')
    await lease.release()
  })

  it('expires while its machine is asleep, although the monotonic clock stops', async () => {
    const lease = await take('first')
    asleepMs = 80_000
    expect(lease.check(leaseMs - 80_000)).toMatchObject({
      refused: expect.stringContaining('about to expire') as string,
    })
    expect(lease.check(leaseMs - 80_001)).toBe('look')
    await clock.advance(20_000)
    await lease.look()
    expect(lease.check(leaseMs - 20_000)).toBe('clear')
    await lease.release()
  })

  it('is kept if a heartbeat was stored and its answer was lost', async () => {
    let lossy = false
    const far: Register = {
      ...register,
      compareAndSwap: async (version, text) => {
        const swapped = await register.compareAndSwap(version, text)
        if (lossy) throw new Error('the answer was lost')
        return swapped
      },
    }
    const lease = await acquire(holder('first'), here, {}, far)
    lossy = true
    await clock.advance(20_000)
    lossy = false
    await clock.advance(40_000)
    await lease.look()
    expect(lease.check(leaseMs - 20_000)).toBe('clear')
    await lease.release()
    expect(await findHolder()).toBeNull()
  })
})

describe('a look at the lock', () => {
  it('counts for less than five seconds, and none of them is asleep', async () => {
    const lease = await take('first')
    await clock.advance(4999)
    expect(lease.check(30_000)).toBe('clear')
    await clock.advance(1)
    expect(lease.check(30_000)).toBe('look')
    await lease.look()
    expect(lease.check(30_000)).toBe('clear')
    asleepMs += 5000
    expect(lease.check(30_000)).toBe('look')
    await lease.look()
    asleepMs -= 60_000
    expect(lease.check(30_000)).not.toBe('clear')
  })

  it('counts from its start, and not at all if it fails', async () => {
    let [delayMs, fails] = [0, false]
    const slow: Register = {
      ...register,
      read: async () => {
        if (fails) throw new Error('no route')
        const found = await register.read()
        if (delayMs > 0) await clock.sleep(delayMs)
        return found
      },
    }
    const lease = await acquire(holder('first'), here, {}, slow)
    delayMs = 6000
    await clock.drive(lease.look())
    expect(lease.check(0)).toBe('look')
    ;[delayMs, fails] = [0, true]
    await lease.look()
    expect(lease.check(0)).toBe('look')
  })

  it.each<[string, (text: string) => Promise<unknown>, string]>([
    ['removed by unlock', async () => revoke('first', here), 'state unlock'],
    ['released by a repair', async (version) => register.compareAndSwap(version, null), 'removed'],
    [
      'taken over',
      async (version) =>
        register.compareAndSwap(version, formatLock({ holder: holder('b'), revoked: [] }, 0)),
      'now used by b@host (process 4711',
    ],
    ['deleted', async () => rmSync(join(folder, 'lock'), { recursive: true }), 'was deleted'],
  ])('says that the lock was %s', async (_what, change, why) => {
    const lease = await take('first')
    await change((await register.read()).version ?? '')
    await lease.look()
    expect(lease.check(0)).toEqual({ refused: expect.stringContaining(why) as string })
  })
})

describe('a removed lock', () => {
  const gone = { ...here, isRunning: () => false }

  it('leaves a mark for the next holder, who waits and drops it', async () => {
    await take('first')
    await revoke('first', here)
    expect(await findHolder()).toBeNull()
    const lease = await take('second')
    expect(lease.revoked.map(({ token }) => token)).toEqual(['first'])
    expect(computeRevokedWait(lease.revoked, here)).toBe(leaseMs / 5 + 40_000)
    expect(computeRevokedWait(lease.revoked, gone)).toBe(0)
    await lease.dropRevoked()
    await lease.release()
    expect(await register.read()).toMatchObject({ text: null })
  })

  it('keeps its mark if the next holder ends before it has waited', async () => {
    await take('first')
    await revoke('first', here)
    const second = await take('second')
    await clock.advance(20_000)
    await second.release()
    expect((await take('third')).revoked.map(({ token }) => token)).toEqual(['first'])
    await revoke('third', here)
    const { revoked } = await take('fourth')
    expect(revoked.map(({ token }) => token)).toEqual(['first', 'third'])
  })

  it('has no mark if its process has certainly ended, or has noticed', async () => {
    await take('first')
    await revoke('first', gone)
    expect((await take('second')).revoked).toEqual([])
    await revoke('second', gone)
    const third = await take('third')
    await revoke('third', here)
    await third.release()
    expect((await take('fourth')).revoked).toEqual([])
  })

  it('belongs to a running process here only if pid and start are the same', () => {
    const runs = {
      ...here,
      isRunning: (pid: number, start: string) => `${pid} ${start}` === '4711 77',
    }
    expect(isAliveHere(holder('a'), runs, 'me')).toBe(true)
    expect(isAliveHere(holder('a', { started: '78' }), runs, 'me')).toBe(false)
    expect(isAliveHere(holder('a', { boot: 'boot-2' }), runs, 'a@host')).toBe(false)
    expect(isAliveHere(holder('a', { namespace: 'pid:[9]' }), runs, 'a@host')).toBe(false)
    const plain = { ...runs, boot: '', namespace: '' }
    const unnamed = holder('a', { boot: '', namespace: '' })
    expect(isAliveHere(unnamed, plain, 'a@host')).toBe(true)
    expect(isAliveHere(unnamed, plain, 'b@host')).toBe(false)
  })
})
