import { join, resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isInside } from '../../files/is-inside.ts'
import {
  buildLockPath,
  buildStatePaths,
  buildStopPath,
  buildUserBudgetPath,
} from '../format/state-paths.ts'
import { findCheckout } from '../git/find-repository.ts'
import { createAccountLock } from '../locks/locks.ts'
import { openAccountStop } from '../store/account-stop.ts'
import { createOptionalRegister } from '../store/call-ledger.ts'
import { FileStore } from '../store/file-store.ts'
import type { Register } from '../store/register.ts'
import type { OpenState, StateEnvironment, StateLocation } from '../store/store-opener.ts'
import type { Disk } from './disk.ts'
import { createFolderFiles } from './folder-files.ts'
import { createFolderRegister } from './folder-register.ts'

/**
 * Opens the state of a workspace in a folder.
 *
 * @throws EdgewiseError `usage` if the folder is behind a link of the checkout
 */
export async function openInFolder(
  place: StateLocation,
  world: StateEnvironment,
): Promise<OpenState> {
  const { root, account, state: _state, ...key } = place
  const { folder, files, lock } = await openFolder(place, world)
  const stopFolder = join(folder, buildStopPath(key.address, account))
  const stop = createFolderRegister(world.disk, stopFolder, world.processName)
  return {
    store: new FileStore(files, key, account, openUserCalls(key.address, account, world)),
    files,
    locks: createAccountLock(lock),
    accountStop: openAccountStop(stop, 'dir'),
    notes: [],
    findFolderInCheckout: () => (isInside(findCheckout(root) ?? root, folder) ? folder : null),
  }
}

/** Finds the folder of a workspace if it has the state of that workspace; else null. */
export async function findFolderState(
  place: StateLocation,
  world: StateEnvironment,
): Promise<string | null> {
  const { folder, files } = await openFolder(place, world)
  return (await files.listPaths(buildStatePaths(place).addresses)).length > 0 ? folder : null
}

/** Opens the files of the folder and the lock of the account. */
async function openFolder(
  { root, state, account, ...key }: StateLocation,
  { disk, processName }: StateEnvironment,
) {
  const folder = resolve(root, state.path)
  await refuseLinks(root, folder, disk)
  const path = join(folder, buildLockPath(key.address, account))
  const lock = createFolderRegister(disk, path, processName)
  const files = createFolderFiles(disk, folder, processName, lock, { ...key, account })
  return { folder, files, lock }
}

/**
 * Refuses state behind a link of the checkout: a commit can bring one that leads anywhere.
 *
 * @throws EdgewiseError `usage`
 */
async function refuseLinks(root: string, folder: string, disk: Disk): Promise<void> {
  const link = (await disk.findLink?.(findCheckout(root) ?? root, folder)) ?? null
  if (link === null) return
  throw new EdgewiseError(
    'usage',
    `the state folder ${folder} is not used: ${link} is a symbolic link in the checkout, and a ` +
      'commit can bring one',
    'Remove the link. To store the state elsewhere, name that folder in edgewise.yaml: ' +
      '"state: {store: dir, path: …}".',
  )
}

/**
 * Opens the calls that the folder stores of a user share: each store alone would allow the whole
 * call rate. An embedded emulator has a call rate of its own.
 */
function openUserCalls(
  address: string,
  account: string,
  { disk, processName, userFolder = null, note }: StateEnvironment,
): Register | null {
  if (userFolder === null || address === 'emulator') return null
  const folder = join(userFolder, buildUserBudgetPath(address, account))
  return createOptionalRegister(createFolderRegister(disk, folder, processName), (reason) =>
    note?.(
      `note: the call budget of the account "${account}" is not shared with other workspaces: ` +
        reason,
    ),
  )
}
