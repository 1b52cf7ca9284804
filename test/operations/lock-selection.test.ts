import { describe, expect, it } from 'vitest'
import type { Domain } from '../../src/core/model/item.ts'
import {
  type LockSelection,
  acquireSelection,
} from '../../src/operations/runtime/lock-selection.ts'
import type { LockScope } from '../../src/state/locks/locks.ts'

/** Acquires the locks of a selection; returns what was done, in order. */
async function acquire(
  selection: LockSelection,
  {
    isByDomain = true,
    timeoutMs = 0,
    entangled = (domains: Iterable<Domain>) => [...domains],
  } = {},
) {
  const done: unknown[] = []
  let now = 0
  const store = {
    lockOnly: (domains: ReadonlySet<Domain> | null) => void done.push({ lockOnly: domains }),
    findEntangled: async (domains: Iterable<Domain>) => new Set(entangled(domains)),
  }
  const acquireScope = async (scope: LockScope, waitMs: number) => {
    done.push({ ...scope, waitMs })
    now += 1000
    return { lease: done.length }
  }
  const acquired = acquireSelection(
    { workspace: 'w', selection, timeoutMs, clock: { monotonic: () => now } },
    { store, locks: { isByDomain } } as unknown as Parameters<typeof acquireSelection>[1],
    acquireScope,
    async (lease) => void done.push({ release: lease }),
  )
  return { done, acquired: await acquired.catch((error: unknown) => error) }
}

const unlimited = { lockOnly: null }
const all = { workspace: 'w', domains: null, waitMs: 0 }
const pick = (...domains: Domain[]) => ({ workspace: 'w', domains: new Set(domains), waitMs: 0 })

describe('acquiring the lock of a selection', () => {
  it.each<[string, LockSelection, boolean, object]>([
    ['account', 'account', true, { workspace: null, domains: null, waitMs: 0 }],
    ['workspace', 'workspace', true, all],
    ['workspace by choice', async () => null, true, all],
    ['account in a store that has no other', async () => ['a'], false, { ...all, workspace: null }],
  ])('locks all of the %s', async (_what, selection, isByDomain, scope) => {
    const { done, acquired } = await acquire(selection, { isByDomain })
    expect(done).toEqual([unlimited, scope, unlimited])
    expect(acquired).toEqual({ lease: 2, isWhole: true })
  })

  it('locks the chosen domains and those that belong to them', async () => {
    const entangled = (domains: Iterable<Domain>) => [...domains, 'b']
    const { done, acquired } = await acquire(async () => ['a'], { entangled })
    expect(done).toEqual([unlimited, pick('a', 'b'), { lockOnly: new Set(['a', 'b']) }])
    expect(acquired).toEqual({ lease: 2, isWhole: false })
  })

  it('begins again if there are more under the lock, in the time that is left', async () => {
    let chosen = 0
    const { done, acquired } = await acquire(async () => ['a', ...['b', 'c'].slice(0, chosen++)], {
      timeoutMs: 1500,
    })
    expect(done).toEqual([
      unlimited,
      { ...pick('a'), waitMs: 1500 },
      { release: 2 },
      { ...pick('a', 'b'), waitMs: 500 },
      { release: 4 },
      { ...pick('a', 'b', 'c'), waitMs: 0 },
      { lockOnly: new Set(['a', 'b', 'c']) },
    ])
    expect(acquired).toEqual({ lease: 6, isWhole: false })
  })

  it('keeps no lock if the domains cannot be chosen under it', async () => {
    let chosen = 0
    const failure = new Error('unreachable')
    const { done, acquired } = await acquire(async () => {
      if (chosen++ > 0) throw failure
      return ['a']
    })
    expect(done).toEqual([unlimited, pick('a'), { release: 2 }])
    expect(acquired).toBe(failure)
  })
})
