import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirLock } from '../../src/state/dir-lock.ts'
import { acquire, leaseMs, type Holder, type Machine } from '../../src/state/lock.ts'
import { FakeClock } from '../service/fake-clock.ts'

let folder: string
let clock: FakeClock
const never = new AbortController().signal
const here: Machine = { boot: 'boot-1', namespace: 'pid:[1]', runs: () => true }
const holder = (token: string, more: Partial<Holder> = {}): Holder => ({
  token,
  who: `${token}@host`,
  reason: 'apply',
  since: '2026-11-20T00:00:00.000Z',
  boot: 'boot-1',
  namespace: 'pid:[1]',
  pid: 4711,
  ...more,
})
const take = (token: string, timeoutMs = 0, machine = here) => acquire(openDirLock(folder), holder(token), machine, timeoutMs, clock, never)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-lock-'))
  clock = new FakeClock()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the lock', () => {
  it('is held by one at a time, and names the holder', async () => {
    const lease = await take('first')
    await expect(take('second')).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('first@host (process 4711') as string,
    })
    await lease.release()
    const next = await take('second')
    expect(openDirLock(folder).read()?.token).toBe('second')
    await next.release()
    expect(openDirLock(folder).read()).toBeNull()
  })

  it('is waited for', async () => {
    const lease = await take('first')
    const second = take('second', 60_000)
    await clock.advance(30_000)
    await lease.release()
    expect(await clock.drive(second)).toBeDefined()
  })

  it('of a process of this machine that is gone is taken at once', async () => {
    await take('first')
    const lease = await take('second', 0, { ...here, runs: () => false })
    expect(lease.leftMs()).toBeGreaterThan(0)
  })

  it('of a process elsewhere is not: its number means nothing here', async () => {
    await take('first')
    await expect(take('second', 0, { boot: 'boot-2', namespace: 'pid:[1]', runs: () => false })).rejects.toMatchObject({ code: 'locked' })
    await expect(take('second', 0, { boot: 'boot-1', namespace: 'pid:[9]', runs: () => false })).rejects.toMatchObject({ code: 'locked' })
  })

  it('of a holder that lives is never taken, however long one waits', async () => {
    const lease = await take('first')
    const second = take('second', 10 * leaseMs)
    await expect(clock.drive(second)).rejects.toMatchObject({ code: 'locked' })
    expect(lease.leftMs()).toBeGreaterThan(leaseMs / 2)
  })

  it('of a holder without a sign is taken when it was seen unchanged for the whole lease, and not before', async () => {
    // Written long ago by another machine's clock: that says nothing.
    writeFileSync(join(folder, 'holder.json'), JSON.stringify(holder('gone', { boot: 'boot-2' })))
    const start = clock.time
    const lease = await clock.drive(take('second', 10 * leaseMs))
    expect(clock.time - start).toBeGreaterThanOrEqual(leaseMs)
    expect(clock.time - start).toBeLessThan(leaseMs + 5000)
    expect(lease.leftMs()).toBeGreaterThan(0)
  })

  it('that was ended is lost to its holder, who takes nothing away with it', async () => {
    const lock = openDirLock(folder)
    const lease = await take('first')
    lock.remove(holder('first'))
    expect(lease.leftMs()).toBe(0)
    const second = await take('second')
    await lease.release()
    expect(lock.read()?.token).toBe('second')
    expect(second.leftMs()).toBeGreaterThan(0)
  })

  it('of a gone holder goes to one successor only', async () => {
    const lock = openDirLock(folder)
    await take('first')
    const former = holder('first')
    expect(lock.succeed(former, holder('a'), clock)).not.toBeNull()
    expect(lock.succeed(former, holder('b'), clock)).toBeNull()
    expect(lock.read()?.token).toBe('a')
  })
})
