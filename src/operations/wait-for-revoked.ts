import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { formatLockHolder } from '../state/format/lock-file.ts'
import type { Lease } from '../state/lease.ts'
import { computeRevokedWait } from '../state/lock.ts'
import type { Outside } from './outside.ts'

/**
 * Waits until the former holders of a removed lock have noticed it, if they run, and their calls
 * have ended. Waits once: the marks of the removal are dropped then.
 *
 * @param lateMs time within which a call may take effect, for a holder that recorded none, ms
 * @throws EdgewiseError `locked` after an interrupt
 */
export async function waitForRevoked(
  lease: Lease,
  lateMs: number,
  { clock, machine, signal }: Outside,
  note: (text: string) => void,
): Promise<void> {
  const { revoked } = lease
  if (revoked.length === 0) return
  const waitMs = computeRevokedWait(revoked, machine, lateMs)
  if (waitMs > 0) {
    const who = listSome(revoked.map(formatLockHolder))
    const end = new Date(clock.now() + waitMs).toISOString()
    note(
      `The lock of ${who} was removed, and that process may still run: waiting ` +
        `${Math.ceil(waitMs / 1000)} s, until ${end}, so that it notices and its calls end.`,
    )
    await clock.sleep(waitMs, signal, 'revoked')
    if (signal.aborted)
      throw new EdgewiseError(
        'locked',
        `interrupted while waiting for ${who}, whose lock was removed`,
        'Run the same command again.',
      )
  }
  await lease.dropRevoked()
}
