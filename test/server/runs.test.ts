import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Rollout, RolloutWave } from '../../src/core/model/rollout.ts'
import type { Committed } from '../../src/server/branch/workspaces.ts'
import { describeTaken, selectFree } from '../../src/server/leader/free-domains.ts'
import { keepHider } from '../../src/server/leader/load-commits.ts'
import { findManifests, findReady } from '../../src/server/leader/rollout-step.ts'

const [www, api] = ['www.example.com', 'api.example.com']
const at = '2026-01-02T03:04:05Z'
const wave: RolloutWave = { domains: [www], applied: null, passed: false }

function createRollout(id: string, changed: Partial<Rollout> = {}): Rollout {
  return {
    id,
    startedAt: at,
    commit: 'a'.repeat(40),
    author: null,
    state: 'open',
    reason: null,
    items: [],
    desiredHashes: { [www]: 'hash' },
    endedAt: null,
    values: {},
    onHold: {},
    waves: [wave, { ...wave, domains: [api] }],
    released: [],
    applies: [],
    ...changed,
  }
}

const waiting = { ...wave, approval: { waitingSince: at, approved: null } }

it.each([
  ['ended rollouts leave all free', { state: 'stopped' as const }, [], false],
  ['an open one leaves the others', {}, [api], false],
  ['a rollback has its domains, too', { state: 'rolling-back' as const }, [api], false],
  ['all may be taken', { desiredHashes: { [www]: '', [api]: '' } }, [], true],
])('%s', (_what, changed, target, areAllTaken) => {
  const free = selectFree([www, api, www], [createRollout('r1', changed)])
  expect(free).toMatchObject({ target, areAllTaken })
})

it('says which rollouts have the domains that are left out', () => {
  const rollouts = [createRollout('r1'), createRollout('r2', { desiredHashes: { [api]: '' } })]
  expect(describeTaken(selectFree([www], rollouts))).toBe(
    '2 domains left out until the end of rollout r1, r2',
  )
})

it.each([
  ['an open rollout is ready', {}, 'r1'],
  ['one that rolls back is ready', { state: 'rolling-back' as const }, 'r1'],
  ['one that has ended is not', { state: 'stopped' as const }, null],
  ['one that waits for an approval is not', { waves: [waiting] }, null],
  ['one that is paused is not', { paused: { author: 'me', at } }, null],
  ['another one is not meant', { id: 'r2' }, null],
])('%s', (_what, changed, expected) => {
  expect(findReady([createRollout('r1', changed)], 'r1')?.id ?? null).toBe(expected)
})

it('names where a rollout may go on whose manifests nobody has', async () => {
  const create = () => Promise.resolve({ desired: new Map() } as unknown as Committed)
  const found = findManifests(createRollout('r1'), create, create)
  await expect(found).rejects.toThrow(EdgewiseError)
  await expect(found).rejects.toThrow('neither commit aaaaaaaaaaaa nor the tip of the branch')
})

it('removes the secrets of the last five commits', () => {
  const commits = ['a', 'b', 'c', 'a', 'd', 'e', 'f']
  const kept = commits.reduce<ReturnType<typeof keepHider>>(
    (before, commit) => keepHider(before, commit, { scrub: String, redact: String }),
    new Map(),
  )
  expect([...kept.keys()]).toEqual(['c', 'a', 'd', 'e', 'f'])
})
