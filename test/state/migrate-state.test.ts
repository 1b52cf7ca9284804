// @module-tag often
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrateState, type Migrated } from '../../src/state/store/migrate-state.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import type { RecordedState } from '../../src/state/store/store.ts'
import type { Call } from '../../src/state/format/calls.ts'
import type { StateFiles } from '../../src/state/store/state-files.ts'
import { buildTimeout, begin } from './store-contract.ts'

const key = { id: 'default', address: 'https://api.example.net' }
const names = Array.from({ length: 1100 }, (_, i) => `d${i}.example.com`)
const domains: RecordedState = new Map(names.flatMap((name) => [...buildTimeout(name, '60')]))

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'edgewise-migrate-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

let processes = 0
const open = (path: string, id = key.id): Promise<OpenState> =>
  openState(
    {
      ...key,
      id,
      root,
      account: 'default',
      state: { store: 'dir', branch: 'edgewise-state', remote: 'origin', path },
    },
    {
      disk: realDisk,
      processName: `p${++processes}`,
      openGit: () => Promise.reject(new Error('expected no git')),
    },
  )

/** Migrates between two folders; `change` replaces functions of the new one. */
async function migrate(
  change: (files: StateFiles) => Partial<StateFiles> = () => ({}),
  calls: Call[] = [],
): Promise<Migrated> {
  const [from, to] = [await open('old'), await open('new')]
  const recorded = await from.store.load()
  await to.store.load()
  return migrateState({
    from: from.files,
    to: { ...to.files, ...change(to.files) },
    key,
    account: 'default',
    calls,
    domains: recorded.keys(),
    toLocation: 'the new place',
  })
}

/** Fails from the given call on. */
function failFrom(call: number): (files: StateFiles) => Partial<StateFiles> {
  let calls = 0
  return (files) => ({
    publish: async (...args) => {
      if (++calls >= call) throw new Error('the power is off')
      return files.publish(...args)
    },
  })
}

describe('a migration', () => {
  it.each([1, 2, 3])('that fails at step %i is repeated, and copies the rest', async (step) => {
    const { store } = await open('old')
    await store.save(domains, 'as it was')
    await expect(migrate(failFrom(step))).rejects.toThrow('the power is off')
    expect((await (await open('old')).store.load()).size).toBe(1100)
    const { files, copied } = await migrate()
    expect([files, copied]).toEqual([1100, [1100, 100, 0][step - 1]])
    expect(await (await open('new')).store.load()).toEqual(domains)
    await expect((await open('old')).store.load()).rejects.toThrow('migrated to the new place')
  })

  it('replaces a copy that is not complete, with the state as it is now', async () => {
    const { store } = await open('old')
    await store.save(domains, 'as it was')
    await expect(migrate(failFrom(3))).rejects.toThrow('the power is off')
    const changed = new Map([
      ...buildTimeout('d1.example.com', '61'),
      ['d2.example.com', new Map()] as const,
    ])
    await store.load()
    await store.save(changed, 'a change')
    expect(await migrate()).toMatchObject({ files: 1099, copied: 2 })
    const moved = await (await open('new')).store.load()
    const all = [...new Map([...domains, ...changed])]
    expect(moved).toEqual(new Map(all.filter(([, items]) => items.size > 0)))
  })

  it('is refused, and changes nothing, where a used copy differs', async () => {
    const { store } = await open('old')
    await store.save(domains, 'as it was')
    const [there] = [(await open('new')).store]
    await there.save(buildTimeout('d1.example.com', '99'), 'its own')
    await begin(there, 'that', new Map())
    await expect(migrate()).rejects.toThrow('has other state of a workspace "default"')
    expect((await (await open('new')).store.load()).size).toBe(1)
    expect((await (await open('old')).store.load()).size).toBe(1100)
  })

  it('fails if the copy differs, and the old state stays in use', async () => {
    const { store } = await open('old')
    await store.save(domains, 'as it was')
    const lose = (files: StateFiles) => ({
      publish: (steps: Parameters<StateFiles['publish']>[0], message: string) =>
        files.publish(
          steps.map((step) => new Map([...step].filter(([path]) => !path.includes('/d7.')))),
          message,
        ),
    })
    await expect(migrate(lose)).rejects.toThrow('the copy in')
    expect((await (await open('old')).store.load()).size).toBe(1100)
  })

  it('takes calls along that count, beside those of other workspaces', async () => {
    const call = (up: number) => ({ at: 1_800_000_000_000, boot: 'b', up })
    const [{ store }, there] = [await open('old'), (await open('new', 'other')).store]
    await store.save(domains, 'as it was')
    await store.saveCalls('a', [call(1), call(2)])
    await there.saveCalls('b', [call(2), call(3)])
    await migrate(undefined, [call(4)])
    const { calls } = await (await open('new')).store.loadCalls()
    expect(calls.map(({ up }) => up).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
  })

  it('takes the traffic of domains along', async () => {
    const traffic = { domains: new Map(), account: 7, at: 5 }
    const { store } = await open('old')
    await store.save(buildTimeout('a.example.com', '60'), 'as it was')
    await store.recordTraffic(traffic)
    await migrate()
    expect(await (await open('new')).store.loadTraffic()).toEqual(traffic)
  })

  it.each([
    ['copies the salt', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', null, false],
    [
      'keeps the same salt',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      false,
    ],
    [
      'keeps the salt of others',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
      true,
    ],
  ])('%s', async (_, own, other, hasOtherSalt) => {
    const [{ store }, there] = [await open('old'), (await open('new', 'other')).store]
    store.keepSalt(own)
    await store.save(domains, 'as it was')
    if (other !== null) {
      there.keepSalt(other)
      await there.save(buildTimeout('x.example.com', '1'), 'its own')
    }
    expect((await migrate()).hasOtherSalt).toBe(hasOtherSalt)
    expect(await (await open('new')).store.loadSalt()).toBe(other ?? own)
  })
})
