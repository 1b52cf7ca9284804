import { append } from '../../core/model/lists.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Move } from './run.ts'

/** Writes of the plan that are completed, by id, and the change of the counts. */
export interface Settlement {
  writes: number[]
  moves: Move[]
}

/** Outcomes that are recorded together, with the state of their domains. */
export interface OutcomeGroup extends Settlement {
  domains: RecordedState
}

/**
 * Creates a recorder of outcomes. Outcomes that arrive while it is waiting for its turn are
 * recorded together; a failure reaches each of them.
 *
 * @param inOrder runs one recording after another
 */
export function createOutcomeRecorder(
  inOrder: <T>(work: () => Promise<T>) => Promise<T>,
  record: (group: OutcomeGroup) => Promise<void>,
): (outcomes: OutcomeGroup) => Promise<void> {
  let waiting: { group: OutcomeGroup; done: Promise<void> } | null = null
  return (outcomes) => {
    if (waiting !== null) {
      const { group, done } = waiting
      append(group.writes, outcomes.writes)
      append(group.moves, outcomes.moves)
      for (const [domain, items] of outcomes.domains) group.domains.set(domain, items)
      return done
    }
    const { writes, moves, domains } = outcomes
    const group = { writes: [...writes], moves: [...moves], domains: new Map(domains) }
    const done = inOrder(() => {
      waiting = null
      return record(group)
    })
    waiting = { group, done }
    return done
  }
}
