import type { ChainFile } from '../../core/model/generated/state-types.ts'
import { chainFile, headFile } from '../../core/model/generated/state-validators.ts'
import { parseJson } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { isOfApply } from '../../core/model/applied.ts'
import { hashEntry } from './chain-entry.ts'
import { type ChainFinding, type StoredRecords, verifyRecords } from './verify-records.ts'
import { nameEntry } from './state-paths.ts'

/** The stored history of a workspace. */
export interface StoredChain {
  /** Workspace and service, as entries name them. */
  home: string
  /** Texts of the entries and signatures, by path below the home of the workspace. */
  texts: ReadonlyMap<string, string>
  /** Text of the file of the newest entry; null without. */
  head: string | null
  /** Number of removed locks without an entry so far. */
  pending: number
  /** What its entries have to cover; absent: it is not compared. */
  records?: StoredRecords
}

/** What somebody knows of a history besides. */
export interface ChainKnowledge {
  /** Hash of an entry that it had, from a report or a notification; null if none is known. */
  head: string | null
  /** Tests the signature of an entry; null without a public key. */
  verifies: ((text: string, signature: Uint8Array) => boolean) | null
}

/** A verified history. */
export interface VerifiedChain extends Pick<StoredChain, 'pending'> {
  findings: ChainFinding[]
  entries: number
  /** Time of the first entry, before which nothing is recorded; null without entries. */
  since: string | null
  /** Hash of the newest entry; null without entries. */
  newest: string | null
  /** Number of entries with a valid signature; null without a public key. */
  signed: number | null
  /** Entries that no apply shows, first to last. */
  acts: ChainFile[]
  /** Whether the known hash is that of an entry; null if none is known. */
  hasHead: boolean | null
}

type Find = (code: ChainFinding['code'], number: number | null, message: string) => void

/** An entry at its place; null if its file can't be used. */
interface Placed {
  number: number
  text: string
  hash: string
  entry: ChainFile | null
}

/**
 * Verifies a history: each entry has the hash of the one before, its own number and workspace. A
 * cut of the newest entries together with the file of the newest one shows only against a known
 * hash; a history that somebody wrote anew also by its signatures.
 */
export function verifyChain(
  { home, texts, head, pending, records }: StoredChain,
  known: ChainKnowledge,
): VerifiedChain {
  const findings: ChainFinding[] = []
  const find: Find = (code, number, message) => findings.push({ code, number, message })
  const placed = placeEntries(texts, find)
  for (const [i, each] of placed.entries()) checkEntry(each, placed[i - 1], home, find)
  const last = placed.at(-1)
  checkHead(head, last, find)
  if (last === undefined && known.verifies !== null)
    find(
      'missing',
      null,
      'the history has no entry, though "sign.public" in edgewise.yaml says that it is signed: ' +
        'it was removed, or nothing is recorded yet.',
    )
  const hasHead = known.head === null ? null : placed.some(({ hash }) => hash === known.head)
  if (hasHead === false)
    find('cut', null, `no entry has the known hash: the newest were cut off, or all replaced.`)
  if (records !== undefined)
    append(
      findings,
      verifyRecords(
        placed.flatMap(({ entry }) => entry ?? []),
        records,
      ),
    )
  const { verifies } = known
  return {
    findings,
    entries: placed.length,
    since: placed[0]?.entry?.at ?? null,
    newest: last?.hash ?? null,
    signed: verifies === null ? null : checkSignatures(placed, texts, verifies, find),
    acts: placed.flatMap(({ entry }) => (entry === null || isOfApply(entry) ? [] : [entry])),
    hasHead,
    pending,
  }
}

/** Sorts the entries by the numbers in their paths; anything else has no place there. */
function placeEntries(texts: StoredChain['texts'], find: Find): Placed[] {
  const placed: Placed[] = []
  for (const [path, text] of texts) {
    const [, digits = '', kind = ''] = /\/([1-9]\d{0,14})\.(json|sig)$/.exec(path) ?? []
    const number = Number(digits)
    const isOwn = texts.has(`${nameEntry(number)}.json`) && path === `${nameEntry(number)}.${kind}`
    if (!isOwn) find('misplaced', null, `the file ${path} is that of no entry.`)
    if (!isOwn || kind === 'sig') continue
    const checked = checkStored(parseJson(text), chainFile)
    const entry = 'value' in checked ? checked.value : null
    placed.push({ number, text, hash: hashEntry(text), entry })
    if ('fault' in checked) find('damaged', number, `entry ${number}: ${checked.fault}.`)
  }
  return placed.toSorted((a, b) => a.number - b.number)
}

/** Checks an entry against the one before it in the folder, and against its own place. */
function checkEntry(
  { number, entry }: Placed,
  before: Placed | undefined,
  home: string,
  find: Find,
): void {
  const next = (before?.number ?? 0) + 1
  if (number > next) {
    const missing = number === next + 1 ? `entry ${next}` : `entries ${next} to ${number - 1}`
    find('missing', number, `the history lacks ${missing}.`)
  }
  if (entry === null) return
  if (entry.number !== number)
    find('misplaced', number, `the file of entry ${number} has entry ${entry.number}.`)
  if (entry.home !== home)
    find('foreign', number, `entry ${number} is of ${entry.home}, not of ${home}.`)
  if (number === next && entry.previous !== (before?.hash ?? null))
    find(
      'unlinked',
      number,
      `entry ${number} does not follow from the one before: one was changed.`,
    )
}

/** Checks the file of the newest entry. */
function checkHead(text: string | null, last: Placed | undefined, find: Find): void {
  if (text === null && last === undefined) return
  const checked = checkStored(parseJson(text ?? ''), headFile)
  if ('fault' in checked)
    find('damaged', null, `the file of the newest entry is missing, or damaged: ${checked.fault}.`)
  else if (checked.value.number !== last?.number || checked.value.hash !== last.hash)
    find(
      'cut',
      checked.value.number,
      `entry ${checked.value.number} was the newest, as it is not now.`,
    )
}

/**
 * Checks the signatures: each has to be valid, and the newest entry needs one.
 *
 * @returns the number of valid ones
 */
function checkSignatures(
  placed: Placed[],
  texts: StoredChain['texts'],
  verifies: NonNullable<ChainKnowledge['verifies']>,
  find: Find,
): number {
  let [count, last] = [0, 0]
  for (const { number, text } of placed) {
    const written = texts.get(`${nameEntry(number)}.sig`)
    const signature = Buffer.from(written ?? '', 'base64')
    // Base64 has several spellings of the same bytes.
    if (`${signature.toString('base64')}\n` === written && verifies(text, signature)) {
      count++
      last = number
    } else if (written !== undefined)
      find('unsigned', number, `the signature of entry ${number} is not valid.`)
  }
  const newest = placed.at(-1)?.number ?? 0
  if (last !== newest)
    find('unsigned', newest, `no valid signature covers the entries from ${last + 1} on.`)
  return count
}
