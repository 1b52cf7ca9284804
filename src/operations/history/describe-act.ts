import type { HistoryNote } from '../../state/format/chain-entry.ts'
import type { Outside } from '../runtime/parts.ts'

/** Describes for the chained history what somebody does now. */
export function describeAct<K extends HistoryNote['kind']>(
  { clock }: Outside,
  kind: K,
  about: string,
  known: Pick<HistoryNote, 'by'> & Partial<Omit<HistoryNote, 'kind'>>,
): HistoryNote & { kind: K } {
  return {
    at: new Date(clock.now()).toISOString(),
    kind,
    about,
    commit: null,
    plan: null,
    reason: null,
    outcome: 'done',
    ...known,
  }
}
