import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Board } from '../../state/postgres/board.ts'
import type { Logger } from '../logger.ts'
import type { Position } from './position.ts'

/** Fetches that a replica may miss before it counts as cut off. */
const missedPolls = 2

/** What hands the work of a leader over that can't fetch the branch. */
export interface HandOverContext {
  board: Pick<Board, 'postFetched' | 'hasOtherFetched' | 'claimHandOver'>
  /** Id of this replica. */
  replica: string
  /** Wait between two fetches, ms. */
  pollMs: number
  position: Position
  clock: Pick<Clock, 'monotonic'>
  logger: Pick<Logger, 'error' | 'debug'>
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
  const { board, replica, position, clock, logger } = context
  const withinMs = missedPolls * context.pollMs
  let fetchedMs = clock.monotonic()
  const tell = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      throwDefect(error)
      logger.debug(`the other replicas were not told of a fetch: ${error.message}`)
    }
  }
  return {
    noteFetched: (commit: string): Promise<void> => {
      fetchedMs = clock.monotonic()
      position.isCutOff = false
      return tell(() => board.postFetched(replica, commit))
    },
    noteFailed: (): Promise<void> =>
      tell(async () => {
        if (clock.monotonic() - fetchedMs < withinMs) return
        position.isCutOff = await board.hasOtherFetched(replica, withinMs)
        if (!position.isCutOff || position.term === null) return
        if (!(await board.claimHandOver(replica, withinMs))) return
        logger.error('the branch can not be fetched here, but by another replica: hands over')
        position.hasHandedOver = true
        context.end()
      }),
  }
}
