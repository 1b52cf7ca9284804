import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { LogEntry } from '../../core/model/applied.ts'
import type { Findings } from '../../core/model/listed-rollout.ts'
import { parseJson } from '../../core/model/json.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'
import type { StateFiles } from '../../state/store/state-files.ts'
import type { Position } from './position.ts'
import type { Reconciler } from './reconciler.ts'

/** What the leader has found; `head`: the commit that rollouts and drift checks go by. */
type Shared = Findings & { head: string }

/** Entries about leaders that are kept. */
const maxHappened = 50

export type SharedFindings = ReturnType<typeof createSharedFindings>

/**
 * Creates the findings that all replicas have: those of this one, and what the leader has stored. A
 * new leader goes on with the last apply and drift check of the one before it.
 *
 * @param folder of the file that the leader stores
 * @param reconciler has the findings of this replica
 */
export function createSharedFindings(
  files: Pick<StateFiles, 'add' | 'load'>,
  folder: string,
  position: Pick<Position, 'term'>,
  reconciler: Pick<Reconciler, 'found' | 'getHead'>,
) {
  const inTurn = createSerialQueue()
  const path = `${folder}/findings.json`
  let known: Shared | null = null
  let term: number | null = null
  const unshared: LogEntry[] = []
  const read = async () => {
    known = (parseJson((await files.load(path)).get(path) ?? '') ?? null) as Shared | null
  }
  const merge = (): Findings => {
    const happened = [...(known?.happened ?? []), ...unshared].slice(-maxHappened)
    const own = { ...reconciler.found, happened }
    if (known === null) return own
    const { working, unattended, problem } = position.term === null ? known : own
    const applied = own.applied ?? known.applied
    const drift = own.drift ?? known.drift
    return { ...own, applied, drift, working, unattended, problem: own.problem ?? problem }
  }
  return {
    /** Notes what happened to the leader, which is stored with the findings of the next one. */
    note: (entry: LogEntry) => unshared.push(entry),
    /** Loads the findings, those of the leader as of about now. */
    load: async (): Promise<Findings> => {
      // What was read before, with its times, is shown while the database is away.
      if (position.term === null || known === null) await read().catch(throwDefect)
      return merge()
    },
    /** Returns the commit that the leader goes by, as of the last load; null if that is unknown. */
    getHead: (): string | null =>
      position.term === null ? (known?.head ?? null) : reconciler.getHead(),
    /** Stores the findings of a leader if they are others than those that are stored. */
    share: (): Promise<void> =>
      inTurn(async () => {
        if (position.term === null) return
        // What the leader before this one has stored at last.
        if (position.term !== term) await read()
        term = position.term
        const { length } = unshared
        const shared = { ...merge(), head: reconciler.getHead() }
        const text = JSON.stringify(shared)
        if (text === JSON.stringify(known)) return
        await files.add(path, text, '')
        known = shared
        unshared.splice(0, length)
      }),
  }
}
