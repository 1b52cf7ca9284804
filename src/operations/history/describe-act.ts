import type { HistoryNote } from '../../state/format/chain-entry.ts'
import type { Outside } from '../runtime/outside.ts'
import { findAuthor } from '../submission/find-author.ts'

/** Describes for the chained history what the user of this process does now. */
export function describeAct(
  outside: Pick<Outside, 'clock' | 'env' | 'user'>,
  kind: HistoryNote['kind'],
  about: string,
  known: Partial<HistoryNote> = {},
): HistoryNote {
  return {
    at: new Date(outside.clock.now()).toISOString(),
    kind,
    about,
    by: { name: findAuthor(outside), knownBy: 'unidentified' },
    commit: null,
    plan: null,
    reason: null,
    outcome: 'done',
    ...known,
  }
}
