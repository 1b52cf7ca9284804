import { expect } from 'vitest'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { openState } from '../../src/state/store/open-state.ts'
import { getRegister } from '../state/contender.ts'
import { emulator, place } from './stage.ts'

/** Acquires the lock on another machine, and keeps it. */
export async function lockElsewhere(): Promise<void> {
  const state = { store: 'dir' as const, branch: '', remote: '', path: '.edgewise/state' }
  const record = {
    root: place.root,
    id: 'default',
    address: emulator.url,
    account: 'default',
    state,
  }
  const opened = await openState(record, {
    disk: realDisk,
    processName: 'elsewhere',
    openGit: async () => null,
  })
  const lock = getRegister(opened)
  const { version } = await lock.read()
  expect(
    await lock.compareAndSwap(
      version,
      JSON.stringify({ token: 'x', who: 'somebody', boot: 'other', namespace: 'other', pid: 1 }),
    ),
  ).not.toBeNull()
}
