import { hash } from 'node:crypto'
import type { Applied } from '../../core/model/applied.ts'
import type { ChainFile, HeadFile, UnlockFile } from '../../core/model/generated/state-types.ts'
import { chainFile, headFile, unlockFile } from '../../core/model/generated/state-validators.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import { formatFile, parseFile } from './parse-file.ts'

/** What an entry of the chained history tells of. */
export type HistoryNote = Omit<ChainFile, 'format' | 'home' | 'number' | 'previous'>

/** The newest entry of a chained history. */
export type ChainHead = Omit<HeadFile, 'format'>

/** A lock that was removed, which the next entry comes after. */
export type UnlockNote = Omit<UnlockFile, 'format'>

/** Signs an entry: the signature in base64; null if it can't be signed now. */
export type Signer = (entry: string) => Promise<string | null>

/** The stored history of a workspace. */
export interface StoredChain {
  /** Workspace and service, as entries name them. */
  home: string
  /** Texts of the entries and signatures, by path below the folder of the history. */
  texts: ReadonlyMap<string, string>
  /** Text of the file of the newest entry; null without. */
  head: string | null
  /** Number of removed locks that no entry tells of yet. */
  pending: number
}

/** Formats an entry: canonical JSON, of whose bytes its hash is made. */
export function formatChainEntry(entry: Omit<ChainFile, 'format'>): string {
  return `${canonicalizeJson({ format: chainFile.name, ...entry, by: { ...entry.by } })}\n`
}

/** Hashes the file of an entry: SHA-256 in hexadecimal. */
export function hashEntry(text: string): string {
  return hash('sha256', text)
}

/** Formats the file of the newest entry. */
export function formatHead(head: ChainHead): string {
  return formatFile(headFile, head)
}

/** Parses the file of the newest entry, as `parseFile` does. */
export function parseHead(place: string, text: string): ChainHead {
  return parseFile(place, text, 'head', headFile)
}

/** Formats the file of an unlock. */
export function formatUnlock(note: UnlockNote): string {
  return formatFile(unlockFile, note)
}

/** Parses the file of an unlock, as `parseFile` does, to what its entry tells. */
export function parseUnlock(place: string, text: string): HistoryNote {
  const { at, about, by, reason } = parseFile(place, text, 'head', unlockFile)
  return { at, kind: 'unlock', about, by, commit: null, plan: null, reason, outcome: 'done' }
}

/** Describes an apply that has ended: what was overridden and excepted for it, then itself. */
export function describeApplied(apply: Applied): HistoryNote[] {
  const { id, startedAt, endedAt, author, commit, overrides = [], exceptions = [] } = apply
  const { plan = null, reason = null, outcome } = apply
  const by = { name: author ?? 'unknown', knownBy: 'unidentified' } as const
  const about = { at: endedAt ?? startedAt, by, commit, plan }
  const isRollback = /-rollback(?:-w\d+)?$/.test(id)
  return [
    ...overrides.map((each) => ({
      ...about,
      kind: 'override' as const,
      about: each.policy,
      reason: each.reason || null,
      outcome: 'done',
    })),
    ...exceptions.map((each) => ({
      ...about,
      kind: 'exception' as const,
      about: each.policy,
      reason: each.reason,
      outcome: `until ${each.until}`,
    })),
    { ...about, kind: isRollback ? 'rollback' : 'apply', about: id, reason, outcome },
  ]
}
