import type { ChainFile } from '../../core/model/generated/state-types.ts'
import { chainFile, journalFile, prunedFile } from '../../core/model/generated/state-validators.ts'
import { parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { hashApplied, hashEntry } from './chain-entry.ts'
import type { ChainFinding } from './verify-chain.ts'

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
 *
 * @param texts of the entries, by path
 */
export function verifyRecords(
  texts: ReadonlyMap<string, string>,
  { journal, intents, pruned }: StoredRecords,
): ChainFinding[] {
  const entries = parseEntries(texts)
  const { findings, ended } = compareListed(entries, pruned)
  const lost: ChainFinding[] = []
  const covered = new Set<string>()
  for (const { number, kind, about: apply, ...entry } of entries) {
    if (kind !== 'apply' && kind !== 'rollback') continue
    covered.add(apply)
    const text = journal.get(apply)
    const by = `entry ${number} has recorded it`
    if (text !== undefined) {
      const hash = hashJournal(text)
      const isSame = (intents.get(apply) ?? entry.intents ?? '') === (entry.intents ?? '')
      if (hash === entry.journal && isSame) continue
      const what = hash === entry.journal ? 'the changes of apply' : 'apply'
      const message = `${what} ${apply} was altered: the history shows it otherwise than ${by}.`
      findings.push({ code: 'altered', number, apply, message })
    } else if (!ended.ids.has(apply))
      lost.push({
        code: 'lost',
        number,
        apply,
        message: `apply ${apply} was removed, though ${by}.`,
      })
  }
  for (const [apply, text] of journal)
    if (!covered.has(apply) && hashJournal(text) !== null)
      findings.push({
        code: 'uncovered',
        number: null,
        apply,
        message: `apply ${apply} is not in the chain: no entry has recorded its end.`,
      })
  // The first of the pruned applies are not listed any more.
  return [...findings, ...lost.slice(ended.dropped)]
}

function parseEntries(texts: ReadonlyMap<string, string>): ChainFile[] {
  const entries = [...texts].flatMap(([path, text]) => {
    const checked = checkStored(path.endsWith('.json') ? parseJson(text) : null, chainFile)
    return 'value' in checked ? [checked.value] : []
  })
  return entries.toSorted((a, b) => a.number - b.number)
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
  return { findings, ended: { ids: new Set(applies.map(({ id }) => id)), dropped } }
}

/** Hashes a journal entry; empty if it can't be used, null if its apply has not ended. */
function hashJournal(text: string): string | null {
  const checked = checkStored(parseJson(text), journalFile)
  if (!('value' in checked)) return ''
  const { format: _format, settled: _settled, settledBatches: _batches, ...apply } = checked.value
  return apply.outcome === 'unfinished' ? null : hashApplied(apply)
}
