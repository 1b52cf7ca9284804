import { EdgewiseError } from '../model/edgewise-error.ts'
import { endLock, findLockHolder } from '../state/lock.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Ports } from './ports.ts'

/**
 * Shows who holds the lock and, with consent, ends that.
 *
 * @returns `not-locked` when nobody holds it, `released` when it ended by itself meanwhile
 * @throws EdgewiseError `declined`
 */
export async function unlock(
  workspace: LoadedWorkspace,
  { outside, dialogue }: Ports,
): Promise<'not-locked' | 'unlocked' | 'released'> {
  const { lock } = await openState(workspace, outside)
  const holder = await findLockHolder(lock)
  if (holder === null) return 'not-locked'
  dialogue.show({ kind: 'lock', holder })
  const noticed = lock.isLocal ? 'before its next write' : 'at its next beat'
  if (!(await dialogue.confirm({ kind: 'unlock', holder, noticed })))
    throw new EdgewiseError('declined', 'the lock was left as it is')
  return (await endLock(lock, holder.token)) ? 'unlocked' : 'released'
}
