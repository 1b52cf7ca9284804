import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { Locks } from '../../state/locks/locks.ts'
import type { ProcessId } from '../../state/locks/machine.ts'
import { leaderMs, type Leadership, type Term } from '../../state/postgres/leadership.ts'
import { logFailure, type Logger } from '../logger.ts'

/** Waits between two signs of life of a leader, and between two attempts of the others, ms. */
const [renewMs, campaignMs] = [3000, 2000]

/** What gets the attempts of a replica to reach the database. */
export interface TermPorts {
  logger: Logger
  /** Called after each attempt. */
  onTick(isReached: boolean): void
}

/**
 * Waits until this process is the leader; null after an interrupt. Once the database has not been
 * reached, the leader has the time of a lease to give a sign of life first: it could not either.
 */
export async function waitForTerm(
  leadership: Leadership,
  { clock, signal, machine, newId }: Outside,
  { logger, onTick, mayLead }: TermPorts & { mayLead(): boolean },
): Promise<Term | null> {
  const token = newId()
  let isAway = false
  let fromMs = clock.monotonic()
  while (!signal.aborted) {
    try {
      if (isAway) {
        await leadership.isCurrent(0)
        isAway = false
        fromMs = clock.monotonic() + leaderMs
      }
      onTick(true)
      const waits = clock.monotonic() < fromMs || !mayLead()
      const term = waits ? null : await leadership.campaign(token, machine)
      if (term !== null) return term
    } catch (error) {
      throwDefect(error)
      if (!isAway) logger.warn('leader not elected', { error: error.message })
      isAway = true
      onTick(false)
    }
    await clock.sleep(campaignMs, signal)
  }
  return null
}

/**
 * Gives signs of life until the end of the term or an interrupt. While the database can't be
 * reached the term continues: no other process can become the leader either.
 *
 * @param onWake called after somebody has woken the leader
 * @returns true if another process is the leader now
 */
export async function keepTerm(
  leadership: Pick<Leadership, 'renew'>,
  { number, wakes }: Pick<Term, 'number' | 'wakes'>,
  { clock, signal }: Pick<Outside, 'clock' | 'signal'>,
  { logger, onTick, onWake }: TermPorts & { onWake(): void },
): Promise<boolean> {
  let known = wakes
  for (;;) {
    await clock.sleep(renewMs, signal)
    if (signal.aborted) return false
    try {
      const current = await leadership.renew(number)
      onTick(true)
      if (current === null) return true
      if (current !== known) onWake()
      known = current
    } catch (error) {
      onTick(false)
      logFailure(logger.warn, 'sign of life not given')(error)
    }
  }
}

/**
 * Removes the locks that the leader before this one had, so that nobody waits for them. It notices
 * that if it is only suspended, and calls of it that may still take effect are waited for.
 *
 * @returns number of removed locks
 */
export async function removeLocksOf(
  { boot, namespace, pid, started }: ProcessId,
  locks: Locks,
  workspace: string,
  { machine }: Outside,
): Promise<number> {
  const holders = await locks.listHolders({ workspace, domains: null })
  const left = holders.filter(
    (each) =>
      each.boot === boot &&
      each.namespace === namespace &&
      each.pid === pid &&
      each.started === started,
  )
  for (const { token } of left) await locks.revoke(token, machine)
  return left.length
}
