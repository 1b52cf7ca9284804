import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Findings } from '../../core/model/listed-rollout.ts'
import type { Board } from '../../state/postgres/board.ts'
import type { Position } from './position.ts'
import type { Reconciler } from './reconciler.ts'

/** What only the leader finds; `head`: the commit that rollouts and drift checks go by. */
interface Shared extends Pick<
  Findings,
  'applied' | 'drift' | 'working' | 'unattended' | 'problem'
> {
  head: string | null
}

const nothing: Shared = {
  head: null,
  applied: null,
  drift: null,
  working: null,
  unattended: [],
  problem: null,
}

export type SharedFindings = ReturnType<typeof createSharedFindings>

/**
 * Creates the findings that all replicas have: those of this one, and what the leader has posted. A
 * new leader goes on with the last apply and drift check of the one before it.
 *
 * @param reconciler has the findings of this replica
 */
export function createSharedFindings(
  board: Pick<Board, 'post' | 'read'>,
  position: Pick<Position, 'term'>,
  reconciler: Pick<Reconciler, 'found' | 'getHead'>,
) {
  let known: Shared | null = null
  const read = async (): Promise<Shared> => {
    try {
      const text = await board.read('findings')
      known = text === null ? nothing : (JSON.parse(text) as Shared)
    } catch (error) {
      // What was read before, with its times, is shown until the database is back.
      throwDefect(error)
    }
    return known ?? nothing
  }
  const merge = (own: Findings, shared: Shared): Findings => ({
    ...own,
    applied: own.applied ?? shared.applied,
    drift: own.drift ?? shared.drift,
    ...(position.term === null
      ? {
          working: shared.working,
          unattended: shared.unattended,
          problem: own.problem ?? shared.problem,
        }
      : {}),
  })
  return {
    /** Loads the findings, those of the leader as of about now. */
    load: async (): Promise<Findings> => {
      const shared = position.term === null || known === null ? await read() : known
      return merge(reconciler.found, shared)
    },
    /** Returns the commit that the leader goes by, as of the last load; null if that is unknown. */
    getHead: (): string | null =>
      position.term === null ? (known ?? nothing).head : reconciler.getHead(),
    /** Posts the findings of a leader if they are others than those that are posted. */
    share: async (): Promise<void> => {
      if (position.term === null) return
      const all = merge(reconciler.found, known ?? (await read()))
      const { applied, drift, working, unattended, problem } = all
      const head = reconciler.getHead()
      const shared = { head, applied, drift, working, unattended, problem }
      if (JSON.stringify(shared) === JSON.stringify(known)) return
      await board.post('findings', JSON.stringify(shared))
      known = shared
    },
  }
}
