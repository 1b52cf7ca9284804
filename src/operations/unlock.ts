import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import { formatLockHolder, type LockHolder } from '../state/format/lock-file.ts'
import { describeEnd, findLockHolder, revokeLock } from '../state/lock.ts'
import { isAliveHere } from '../state/machine.ts'
import type { OpenState } from '../state/open-state.ts'
import type { Register } from '../state/register.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Ports } from './ports.ts'

/** Options of removing the lock. */
export interface UnlockRequest {
  /** Remove the lock although its process runs on this machine. */
  force?: boolean
}

/**
 * Shows the lock holder and, with consent, removes the lock.
 *
 * @returns `not-locked` if there is no holder, `released` if the lock was released meanwhile
 * @throws EdgewiseError `locked` if the process of the holder runs here, `declined`
 */
export async function unlock(
  workspace: LoadedWorkspace,
  { force = false }: UnlockRequest,
  { outside, dialogue }: Ports,
): Promise<'not-locked' | 'unlocked' | 'released'> {
  const { machine, user } = outside
  const found = await findHolder(await openState(workspace, outside))
  if (found === null) return 'not-locked'
  const { lock, holder } = found
  dialogue.show({ kind: 'lock', holder })
  if (!force && isAliveHere(holder, machine, user)) {
    throw new EdgewiseError(
      'locked',
      `the lock is in use: ${formatLockHolder(holder)} runs on this machine`,
      `${describeEnd(holder, machine, 'Wait for it')} ` +
        '"edgewise state unlock --force" removes the lock from the running process.',
    )
  }
  if (!(await dialogue.confirm({ kind: 'unlock', holder })))
    throw new CancelledError('Unlock cancelled: the lock was not released')
  return (await revokeLock(lock, holder.token, machine)) ? 'unlocked' : 'released'
}

/** Finds the first holder of the lock, or of one of the locks of earlier programs. */
async function findHolder({
  lock,
  findOldLocks,
}: OpenState): Promise<{ lock: Register; holder: LockHolder } | null> {
  const own = await findLockHolder(lock)
  if (own !== null) return { lock, holder: own }
  for (const old of await findOldLocks()) {
    const holder = await findLockHolder(old)
    if (holder !== null) return { lock: old, holder }
  }
  return null
}
