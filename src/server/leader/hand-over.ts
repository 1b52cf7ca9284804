import type { Outside } from '../../operations/runtime/parts.ts'
import type { Leadership } from '../../state/postgres/leadership.ts'
import { logFailure, type Logger } from '../logger.ts'
import type { Position } from './position.ts'

/** Why a leader hands over. */
const reason = 'the branch can not be fetched here, but by another replica'
/** Fetches that a replica may miss before it counts as cut off. */
const missedPolls = 2

/** What hands the work of a leader over that can't fetch the branch. */
export interface HandOverContext {
  leadership: Pick<Leadership, 'noteFetched' | 'findFetched' | 'claimHandOver'>
  /** Wait between two fetches, ms. */
  pollMs: number
  position: Position
  outside: Pick<Outside, 'machine' | 'newId'> & { clock: Pick<Outside['clock'], 'monotonic'> }
  logger: Pick<Logger, 'error' | 'debug'>
  /** Notes what happens to this replica for those who read the overview. */
  note(text: string): Promise<void>
  /** Ends the work of this replica, so that another one leads. */
  end(): void
}

/**
 * Creates what is told of each fetch. A replica that can't fetch while another can is cut off: it
 * does not become the leader, and one that leads hands over, at most one of the workspace in ten
 * minutes. While no replica can fetch, nothing changes. A failure of the database changes nothing
 * either: the next fetch tells again.
 */
export function createHandOver(context: HandOverContext) {
  const { leadership, position, outside, logger } = context
  const { clock, machine } = outside
  const replica = outside.newId()
  const withinMs = missedPolls * context.pollMs
  let fetchedMs = clock.monotonic()
  let failedMs: number | null = null
  const tell = (work: Promise<unknown>) => work.catch(logFailure(logger.debug, 'fetch not shared'))
  const judge = async () => {
    const nowMs = clock.monotonic()
    failedMs ??= nowMs
    if (nowMs - fetchedMs < withinMs) return
    // What another one fetched before says nothing: the remote may have gone for all since.
    const last = await leadership.findFetched(nowMs - failedMs)
    position.isCutOff = last !== null && last !== replica
    if (!position.isCutOff || position.term === null) return
    if ((await leadership.claimHandOver(replica, machine)) === null) return
    logger.error('leadership handed over', { reason })
    await context.note(`hands over: ${reason}`)
    context.end()
  }
  return {
    noteFetched: () => {
      fetchedMs = clock.monotonic()
      failedMs = null
      position.isCutOff = false
      return tell(leadership.noteFetched(replica, machine))
    },
    noteFailed: () => tell(judge()),
  }
}
