import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Outside } from '../operations/outside.ts'
import type { Locks } from '../state/locks.ts'
import type { Leadership, ProcessIdentity, Term } from '../state/postgres/leadership.ts'
import type { Logger } from './logger.ts'

/** Waits between two signs of life of a leader, and between two attempts of the others, ms. */
const [renewMs, campaignMs] = [3000, 2000]

type World = Pick<Outside, 'clock' | 'signal' | 'machine' | 'newId'>

/**
 * Waits until this process is the leader; null after an interrupt.
 *
 * @param onTick called at each attempt
 */
export async function waitForTerm(
  leadership: Leadership,
  { clock, signal, machine, newId }: World,
  logger: Logger,
  onTick: () => void,
): Promise<Term | null> {
  const token = newId()
  while (!signal.aborted) {
    onTick()
    try {
      const term = await leadership.campaign(token, machine)
      if (term !== null) return term
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      logger.warn(`no leader could be elected: ${error.message}`)
    }
    await clock.sleep(campaignMs, signal)
  }
  return null
}

/**
 * Gives signs of life until the end of the term or an interrupt. While the database can't be
 * reached the term continues: no other process can become the leader either.
 *
 * @param onTick called at each attempt
 * @param onWake called after somebody has woken the leader
 * @returns true if another process is the leader now
 */
export async function keepTerm(
  leadership: Pick<Leadership, 'renew'>,
  { number, wakes }: Pick<Term, 'number' | 'wakes'>,
  { clock, signal }: Pick<World, 'clock' | 'signal'>,
  logger: Logger,
  onTick: () => void,
  onWake: () => void,
): Promise<boolean> {
  let known = wakes
  for (;;) {
    await clock.sleep(renewMs, signal)
    if (signal.aborted) return false
    onTick()
    try {
      const current = await leadership.renew(number)
      if (current === null) return true
      if (current !== known) onWake()
      known = current
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      logger.warn(`the leader could not give a sign of life: ${error.message}`)
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
  { boot, namespace, pid, started }: ProcessIdentity,
  locks: Locks,
  workspace: string,
  { machine }: World,
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
