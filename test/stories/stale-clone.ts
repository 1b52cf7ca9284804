import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { fetchConfig, fetchWrites, type CommandResult, type Place } from '../steps/cli.ts'
import type { SharedState } from './shared-state.ts'

const domain = 'www.example.com'
const flat = ({ out, err }: CommandResult) => `${out}${err}`.replace(/\s+/g, ' ')

/** Expects that an apply of a clone is refused before anything is sent, and its plan marked. */
async function expectRefused(place: Place, emulator: Emulator, undone: string): Promise<void> {
  const before = await fetchWrites(emulator)
  const plan = flat(await place.cli('plan'))
  expect(plan).toContain(`goes back: undoes commit ${undone.slice(0, 12)}`)
  expect(plan).toContain(`back to older values: timeout of ${domain}, applied from commit`)
  const refused = await place.cli('apply', '--yes')
  expect([refused.code, flat(refused)]).toEqual([1, expect.stringContaining('--allow-older')])
  expect(await fetchWrites(emulator)).toEqual(before)
}

async function expectApplied(
  place: Place,
  emulator: Emulator,
  time: number,
  ...args: string[]
): Promise<string> {
  const applied = await place.cli('apply', '--yes', ...args)
  expect([applied.code, applied.err]).toEqual([0, applied.err])
  expect(await fetchConfig(emulator, domain)).toEqual({ timeout: { time: `${time}` } })
  return flat(applied)
}

/** A clone without the applied commit undoes it only if it is told to, or asks nothing. */
export async function undoNothing(shared: SharedState, emulator: Emulator): Promise<void> {
  const { sandbox } = shared
  const write = (place: Place, time: number) => place.manifest(domain, { timeout: { time } })
  const push = () => sandbox.git('clone', 'push', '--quiet', 'origin', 'HEAD')
  const cloneShallow = async (name: string) => {
    const url = `file://${sandbox.folder}/remote.git`
    await sandbox.git('.', 'clone', '--quiet', '--depth', '1', url, name)
    return shared.build(emulator.url, name)
  }
  const mine = write(shared.build(emulator.url), 10)
  await shared.commit()
  await push()
  await expectApplied(mine, emulator, 10)
  await sandbox.git('other', 'pull', '--quiet')
  const theirs = shared.build(emulator.url, 'other')
  const shallow = await cloneShallow('shallow')

  write(mine, 20)
  const applied = await shared.commit()
  await push()
  await expectApplied(mine, emulator, 20)
  await expectRefused(theirs, emulator, applied)
  // What a shallow clone has fetched since it was made proves that its commit is older.
  await sandbox.git('shallow', 'fetch', '--quiet')
  await expectRefused(shallow, emulator, applied)

  // A loosened guard counts from the commit after the one that loosens it.
  const settings = mine.read('edgewise.yaml')
  mine.write('edgewise.yaml', `${settings}guards: {order: off}\n`)
  await shared.commit()
  await expectApplied(mine, emulator, 20)
  mine.write('edgewise.yaml', settings)
  const tightened = await shared.commit()
  theirs.write('edgewise.yaml', `${theirs.read('edgewise.yaml')}guards: {order: off}\n`)
  const undoing = await shared.commit('other')
  await expectApplied(theirs, emulator, 10)
  await expectRefused(mine, emulator, undoing)
  await expectApplied(mine, emulator, 20, '--allow-older')

  // Its history is cut: whether this commit contains the applied one is not known.
  write(mine, 10)
  await shared.commit()
  await push()
  const unknown = await cloneShallow('unknown')
  expect(await expectApplied(unknown, emulator, 10)).toContain(
    `timeout of ${domain}, applied from commit ${tightened.slice(0, 12)}`,
  )
}
