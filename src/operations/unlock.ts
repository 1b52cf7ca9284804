import type { Settings } from './runtime/parts.ts'
import { lowerAscii } from '../core/model/text/lower-ascii.ts'
import { CancelledError, EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import type { Domain } from '../core/model/item.ts'
import { formatLockHolder, type LockHolder } from '../state/format/lock-file.ts'
import { describeEnd } from '../state/locks/locks.ts'
import { isAliveHere } from '../state/locks/machine.ts'
import { describeAct } from './history/describe-act.ts'
import { findActor } from './people/command-line.ts'
import { refuseLongReason, requireReason } from './submission/reasons.ts'
import { openState } from './runtime/open-state.ts'
import type { Ports } from './runtime/ports.ts'

/** Options of removing the lock. */
export interface UnlockRequest {
  /** Remove the lock that covers this domain; absent: the only one of the workspace. */
  domain?: Domain
  /** Remove the lock although its process runs on this machine. */
  force?: boolean
  /** Why, for the receivers of notifications. */
  reason?: string
}

/** How an unlock ended, who asked for it, and whose lock it was; null without a lock. */
export interface Unlocked {
  ended: 'not-locked' | 'unlocked' | 'released'
  by: string
  holder: LockHolder | null
}

/**
 * Shows the lock holder and, with consent, removes the lock.
 *
 * @returns `not-locked` if there is no holder, `released` if the lock was released meanwhile
 * @throws EdgewiseError `locked` if the process of the holder runs here, `usage` if there are
 *   several holders or a reason is missing, `declined`
 */
export async function unlock(
  workspace: Settings,
  { domain, force = false, reason }: UnlockRequest,
  { outside, dialogue }: Ports,
): Promise<Unlocked> {
  refuseLongReason(reason ?? '')
  requireReason(workspace.config.guards, 'unlock', reason)
  const { machine, user } = outside
  const scope = {
    workspace: workspace.config.id,
    domains: domain === undefined ? null : new Set([lowerAscii(domain)]),
  }
  const state = await openState(workspace, outside)
  const { locks, store } = state
  const actor = await findActor(workspace, state, outside, 'unlock')
  const by = actor.name
  const holders = await locks.listHolders(scope)
  const [holder] = holders
  if (holder === undefined) return { ended: 'not-locked', by, holder: null }
  for (const each of holders)
    await dialogue.show({
      kind: 'lock',
      holder: each,
      domains: holders.length === 1 ? null : await locks.listDomains(each.token),
    })
  if (holders.length > 1) {
    throw new EdgewiseError(
      'usage',
      `${holders.length} processes have locks, each of other domains; none was removed`,
      'Pass a domain of the lock to remove: "edgewise state unlock DOMAIN".',
    )
  }
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
  const isRevoked = await locks.revoke(holder.token, machine)
  const why = reason?.trim() ? workspace.redact(reason) : null
  const note = describeAct(outside, 'unlock', formatLockHolder(holder), {
    by: actor,
    reason: why,
    outcome: force ? 'forced' : 'done',
  })
  if (isRevoked)
    await store.chain.addLater(note).catch((error: unknown) => {
      throwDefect(error)
      dialogue.warn(`the history has no entry of it: ${error.message}`)
    })
  return { ended: isRevoked ? 'unlocked' : 'released', by, holder }
}
