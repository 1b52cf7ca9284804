import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { SharedState } from './shared-state.ts'

const domain = 'www.example.com'

/** Only what was applied from a commit is said to be of that commit, also by a rollback. */
export async function nameCommits(shared: SharedState, emulator: Emulator): Promise<void> {
  const place = shared.build(emulator.url)
  const run = async (...args: string[]) => {
    const { code, out, err } = await place.cli(...args)
    expect([args, code, err]).toEqual([args, 0, err])
    return `${out}${err}`.replace(/\s+/g, ' ')
  }
  const apply = (time: number) => {
    place.manifest(domain, { timeout: { time } })
    return run('apply', '--yes')
  }
  place.manifest(domain, { timeout: { time: 10 } })
  await shared.commit()
  await apply(10)
  place.manifest(domain, { timeout: { time: 20 } })
  const commit = (await shared.commit()).slice(0, 12)
  await apply(20)
  expect(await run('state', 'history', domain)).toContain(commit)
  expect(await run('state', 'history')).not.toContain('uncommitted')
  expect(await run('rollback', '--yes')).toContain(`git revert ${commit}`)

  const uncommitted = `uncommitted changes on top of ${commit}`
  await apply(30)
  for (const args of [[], [domain]])
    expect(await run('state', 'history', ...args)).toContain(uncommitted)
  const { applies } = (await place.json('state', 'history')) as { applies: object[] } & object
  expect(applies[0]).toMatchObject({ commit: null, onTopOf: expect.stringContaining(commit) })
  const advice = await run('rollback', '--yes')
  expect(advice).toContain('git revert')
  expect(advice).not.toMatch(/git revert [0-9a-f]/)
}
