import type { ChainFile } from '../../core/model/generated/state-types.ts'
import { journalFile, prunedFile } from '../../core/model/generated/state-validators.ts'
import { parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { hashApplied, hashEntry } from './chain-entry.ts'

/** What is wrong with a history; its schema describes the codes. */
export interface ChainFinding {
  code:
    | 'missing'
    | 'damaged'
    | 'misplaced'
    | 'foreign'
    | 'unlinked'
    | 'cut'
    | 'unsigned'
    | 'altered'
    | 'uncovered'
    | 'lost'
  /** Number of the entry; null if it is about the whole history. */
  number: number | null
  /** A sentence. */
  message: string
  /** Id of the apply that it is about; absent: of none. */
  apply?: string
}

/** What the history shows, which its entries have to cover. */
export interface StoredRecords {
  /** Texts of the journal entries, by apply. */
  journal: ReadonlyMap<string, string>
  /** Hashes of the batches of some applies, as `hashBatches`. */
  intents: ReadonlyMap<string, string>
  /** Text of the file of the pruned applies; null without. */
  pruned: string | null
}

/**
 * Compares the entries of applies with what the history shows of them. An apply that has not ended
 * has no entry yet.
 */
export function verifyRecords(
  entries: ChainFile[],
  { journal, intents, pruned }: StoredRecords,
): ChainFinding[] {
  const { findings, ids, dropped } = compareListed(entries, pruned)
  const lost: ChainFinding[] = []
  const uncovered = new Map(journal)
  for (const { number, kind, about: apply, ...entry } of entries) {
    if (kind !== 'apply' && kind !== 'rollback') continue
    uncovered.delete(apply)
    const text = journal.get(apply)
    const by = `entry ${number} has recorded it`
    if (text === undefined) {
      const message = `apply ${apply} was removed, though ${by}.`
      if (!ids.has(apply)) lost.push({ code: 'lost', number, apply, message })
    } else if (
      hashJournal(text) !== entry.journal ||
      (intents.get(apply) ?? entry.intents ?? '') !== (entry.intents ?? '')
    ) {
      const message = `apply ${apply} was altered: the history shows it otherwise than ${by}.`
      findings.push({ code: 'altered', number, apply, message })
    }
  }
  for (const [apply, text] of uncovered) {
    const message = `apply ${apply} is not in the chain: no entry has recorded its end.`
    if (hashJournal(text) !== null)
      findings.push({ code: 'uncovered', number: null, apply, message })
  }
  // The first of the pruned applies are not listed any more.
  return [...findings, ...lost.slice(dropped)]
}

/** Compares the file of the pruned applies with the newest entry about it. */
function compareListed(entries: ChainFile[], text: string | null) {
  const newest = entries.findLast(({ kind }) => kind === 'prune')
  const findings: ChainFinding[] = []
  if ((text === null ? undefined : hashEntry(text)) !== newest?.journal)
    findings.push({
      code: 'altered',
      number: newest?.number ?? null,
      message: 'the list of pruned applies is not as the newest entry about it has recorded it.',
    })
  const checked = checkStored(parseJson(text ?? ''), prunedFile)
  const { applies, dropped } = 'value' in checked ? checked.value : { applies: [], dropped: 0 }
  return { findings, ids: new Set(applies.map(({ id }) => id)), dropped }
}

/** Hashes a journal entry; empty if it can't be used, null if its apply has not ended. */
function hashJournal(text: string): string | null {
  const checked = checkStored(parseJson(text), journalFile)
  if (!('value' in checked)) return ''
  const { format: _format, settled: _settled, settledBatches: _batches, ...apply } = checked.value
  return apply.outcome === 'unfinished' ? null : hashApplied(apply)
}
