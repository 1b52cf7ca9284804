import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import type { Outside } from '../../src/operations/runtime/parts.ts'
import { createCommitChecks, type CheckEnd } from '../../src/server/branch/commit-checks.ts'
import { loadFirst } from '../../src/server/serve.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Committed } from '../../src/server/branch/workspaces.ts'
import type { Logger } from '../../src/server/logger.ts'

const commit = 'c0ffee'.padEnd(40, '0')

const fine = (isPartial = false): CheckEnd => ({
  rules: { roles: [], needs: { by: 1, notAuthor: false } },
  isPartial,
})

function stage() {
  const world = {
    nowMs: 0,
    roots: [] as string[],
    end: fine(),
  }
  const checks = createCommitChecks(
    async (root) => {
      world.roots.push(root)
      return world.end
    },
    { monotonic: () => world.nowMs },
  )
  const refuse = (root: string) => checks.check(root, commit, {} as Outside)
  return { world, checks, refuse }
}

it('a commit is checked once, also by several at the same time', async () => {
  const { world, refuse } = stage()
  await Promise.all([refuse('/a'), refuse('/a'), refuse('/b')])
  world.nowMs = 1e9
  await refuse('/a')
  expect(world.roots).toEqual(['/a', '/b'])
})

it('a heavy commit is invalid, and checked again after half an hour', async () => {
  const { world, checks, refuse } = stage()
  world.end = { excess: 'more than 60 seconds' }
  for (world.nowMs = 0; world.nowMs < 30 * 60_000; world.nowMs += 60_000)
    await expect(refuse('/a')).rejects.toMatchObject({
      code: 'invalid',
      message: 'loading and planning commit c0ffee000000 takes more than 60 seconds',
    })
  expect(world.roots).toEqual(['/a'])
  world.end = fine()
  await refuse('/a')
  expect([world.roots.length, checks.findFault('/a')]).toEqual([2, null])
})

it('a check that could not reach the state is done again, and only so many are kept', async () => {
  const { world, refuse } = stage()
  world.end = fine(true)
  await refuse('/a')
  world.end = fine()
  await refuse('/a')
  expect(world.roots).toEqual(['/a', '/a'])
  for (let i = 0; i < 100; i++) await refuse(`/${i}`)
  await refuse('/a')
  expect(world.roots).toHaveLength(103)
})

it('a start goes back to the last commit that can be loaded', async () => {
  const tried: string[] = []
  const log: string[] = []
  const branch = { listHistory: async () => ['tip', 'bad', 'good', 'older'] }
  const load = (good: string) => async (each: string) => {
    tried.push(each)
    if (each !== good) throw new EdgewiseError('invalid', `${each} is heavy`)
    return { commit: each } as Committed
  }
  const error = (message: string, fields: JsonObject) =>
    void log.push([message, fields['commit'], fields['error']].join(': '))
  const logger = { error } as unknown as Logger
  expect((await loadFirst(branch, 'tip', load('good'), logger)).commit).toBe('good')
  expect([tried, log]).toEqual([['tip', 'bad', 'good'], ['commit not loaded: tip: tip is heavy']])
  await expect(loadFirst(branch, 'tip', load('none'), logger)).rejects.toThrow('tip is heavy')
})

it('a commit that can not be loaded is refused with the reason, and tried again', async () => {
  const { world, checks, refuse } = stage()
  world.end = { fault: new EdgewiseError('invalid', 'edgewise.yaml is not valid', 'Correct it.') }
  await expect(refuse('/a')).rejects.toThrow('edgewise.yaml is not valid')
  await expect(refuse('/a')).rejects.toThrow('edgewise.yaml is not valid')
  expect(checks.findFault('/a')?.hint).toBe('Correct it.')
  world.end = { fault: new EdgewiseError('unavailable', 'no process') }
  await expect(refuse('/b')).rejects.toThrow('no process')
  world.end = fine()
  await expect(refuse('/b')).resolves.toEqual({ roles: [], needs: { by: 1, notAuthor: false } })
  expect(world.roots).toEqual(['/a', '/b', '/b'])
})
