import { hash } from 'node:crypto'
import { isRollback, type Applied } from '../../core/model/applied.ts'
import { escapeJson, type Json } from '../../core/model/json.ts'
import type { ChainFile } from '../../core/model/generated/state-types.ts'
import { chainFile } from '../../core/model/generated/state-validators.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import type { StatePaths } from './state-paths.ts'

/** Content of an entry of the chained history. */
export type HistoryNote = Omit<ChainFile, 'format' | 'home' | 'number' | 'previous'>

/** Signs an entry: the signature in base64; null if it can't be signed now. */
export type Signer = (entry: string) => string | null

/** Formats an entry: canonical JSON that hides nothing, of whose bytes its hash is made. */
export function formatChainEntry(entry: Omit<ChainFile, 'format'>): string {
  const text = canonicalizeJson({ format: chainFile.name, ...entry, by: { ...entry.by } })
  return `${escapeJson(text)}\n`
}

/** Hashes the file of an entry: SHA-256 in hexadecimal. */
export function hashEntry(text: string): string {
  return hash('sha256', text)
}

/** Hashes an apply, as the journal and the list of pruned ones have it. */
export function hashApplied(apply: Applied): string {
  return hashEntry(canonicalizeJson(JSON.parse(JSON.stringify(apply)) as Json))
}

/** Hashes the files of the batches of an apply, first to last, after those of `before`. */
export function hashBatches(texts: string[], before = ''): string {
  return texts.reduce((hashed, text) => hashEntry(hashed + text), before)
}

/** Hashes the stored batches of an apply, by path, in order. */
export function hashStored(
  paths: StatePaths,
  apply: string,
  texts: ReadonlyMap<string, string>,
): string {
  return hashBatches(Array.from(texts.keys(), (_, i) => texts.get(paths.batch(apply, i + 1)) ?? ''))
}

/**
 * Describes an apply that has ended: what was overridden and excepted for it, then itself.
 *
 * @param intents hash of its batches; empty without any
 */
export function describeApplied(apply: Applied, intents = ''): HistoryNote[] {
  const { id, startedAt, endedAt, author, commit, overrides = [], exceptions = [] } = apply
  const { plan = null, reason = null, outcome } = apply
  const by = apply.by ?? { name: author ?? 'unknown', knownBy: 'unidentified' }
  const build = (note: Pick<HistoryNote, 'kind' | 'about' | 'reason' | 'outcome'>) => {
    return { at: endedAt ?? startedAt, by, commit, plan, ...note }
  }
  const kind = isRollback(id) ? 'rollback' : 'apply'
  return [
    ...overrides.map(({ policy: about, reason: why }) =>
      build({ kind: 'override', about, reason: why || null, outcome: 'done' }),
    ),
    ...exceptions.map(({ policy: about, reason: why, until }) =>
      build({ kind: 'exception', about, reason: why, outcome: `until ${until}` }),
    ),
    {
      ...build({ kind, about: id, reason, outcome }),
      journal: hashApplied(apply),
      ...(intents === '' ? {} : { intents }),
    },
  ]
}
