import type { ChainFile } from '../../core/model/generated/state-types.ts'
import { chainFile, headFile } from '../../core/model/generated/state-validators.ts'
import { append } from '../../core/model/lists.ts'
import { parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { hashEntry, type StoredChain } from './chain-entry.ts'
import { nameEntry } from './state-paths.ts'

/** A stored history to verify. */
export type ChainToVerify = Pick<StoredChain, 'home' | 'texts' | 'head'>

/** What an honest reader knows besides. */
export interface ChainKnowledge {
  /** Hash of an entry that the history had, from a report or a notification. */
  head: string | null
  /** Tests the signature of an entry; null without a public key. */
  verifies: ((text: string, signature: Buffer) => boolean) | null
}

/** What is wrong with a history. */
export interface ChainFinding {
  code: 'missing' | 'damaged' | 'misplaced' | 'foreign' | 'unlinked' | 'cut' | 'unsigned'
  /** Number of the entry; null if it is about the whole history. */
  number: number | null
  /** In a sentence. */
  message: string
}

/** A verified history. */
export interface VerifiedChain {
  findings: ChainFinding[]
  entries: number
  /** Time of the first entry, before which nothing is told; null without entries. */
  since: string | null
  /** Hash of the newest entry; null without entries. */
  newest: string | null
  /** Number of entries with a valid signature; null without a public key. */
  signed: number | null
  /** Whether the known hash is that of an entry; null if none is known. */
  hasHead: boolean | null
}

/** An entry at its place. */
interface Placed {
  number: number
  text: string
  hash: string
  /** Null if the file can't be used. */
  entry: ChainFile | null
}

/**
 * Verifies a history: each entry has the hash of the one before, its own number and workspace. A
 * cut of the newest entries together with the file of the newest one shows only against a known
 * hash; a history that somebody wrote anew also by its signatures.
 */
export function verifyChain(
  { home, texts, head }: ChainToVerify,
  known: ChainKnowledge,
): VerifiedChain {
  const { placed, findings } = place(texts)
  const hashes = new Set(placed.map(({ hash }) => hash))
  for (const [i, each] of placed.entries())
    append(findings, checkEntry(each, placed[i - 1] ?? null, home))
  const last = placed.at(-1) ?? null
  append(findings, checkHead(head, last))
  const hasHead = known.head === null ? null : hashes.has(known.head)
  if (hasHead === false)
    findings.push({
      code: 'cut',
      number: null,
      message: `no entry has the known hash ${known.head}: entries were cut off or replaced.`,
    })
  const signed = known.verifies === null ? null : checkSignatures(placed, texts, known.verifies)
  return {
    findings: [...findings, ...(signed?.findings ?? [])],
    entries: placed.length,
    since: placed[0]?.entry?.at ?? null,
    newest: last?.hash ?? null,
    signed: signed?.count ?? null,
    hasHead,
  }
}

/** Sorts the entries by the numbers in their paths; anything else has no place there. */
function place(texts: ChainToVerify['texts']): { placed: Placed[]; findings: ChainFinding[] } {
  const placed: Placed[] = []
  const findings: ChainFinding[] = []
  for (const [path, text] of texts) {
    const [, digits = '', kind] = /\/([1-9]\d{0,14})\.(json|sig)$/.exec(path) ?? []
    const number = Number(digits)
    const isEntry = kind === 'json'
    if (path !== `${nameEntry(number)}.${kind}` || (!isEntry && !texts.has(toEntryPath(path))))
      findings.push({ code: 'misplaced', number: null, message: `the file ${path} is no entry's.` })
    else if (isEntry) placed.push(parseEntry(number, text, findings))
  }
  placed.sort((a, b) => a.number - b.number)
  return { placed, findings }
}

function toEntryPath(path: string): string {
  return path.replace(/\.sig$/, '.json')
}

function parseEntry(number: number, text: string, findings: ChainFinding[]): Placed {
  const checked = checkStored(parseJson(text), chainFile)
  if ('fault' in checked)
    findings.push({
      code: 'damaged',
      number,
      message: `entry ${number} can't be used: ${checked.fault}.`,
    })
  return { number, text, hash: hashEntry(text), entry: 'value' in checked ? checked.value : null }
}

/** Checks an entry against the one before it in the folder, and against its own place. */
function checkEntry(
  { number, entry }: Placed,
  before: Placed | null,
  home: string,
): ChainFinding[] {
  const findings: ChainFinding[] = []
  const add = (code: ChainFinding['code'], message: string) =>
    findings.push({ code, number, message })
  const next = (before?.number ?? 0) + 1
  if (number !== next)
    add(
      'missing',
      number === next + 1
        ? `entry ${next} is missing.`
        : `entries ${next} to ${number - 1} are missing.`,
    )
  if (entry === null) return findings
  if (entry.number !== number) add('misplaced', `the file of entry ${number} has ${entry.number}.`)
  if (entry.home !== home) add('foreign', `entry ${number} is of ${entry.home}, not of ${home}.`)
  if (number === next && entry.previous !== (before?.hash ?? null))
    add(
      'unlinked',
      number === 1
        ? 'entry 1 names an entry before it.'
        : `entry ${number} does not follow from entry ${number - 1}: one of them was changed.`,
    )
  return findings
}

/** Checks the file of the newest entry. */
function checkHead(text: string | null, last: Placed | null): ChainFinding[] {
  if (text === null && last === null) return []
  const checked = text === null ? null : checkStored(parseJson(text), headFile)
  if (checked !== null && 'value' in checked) {
    const { number, hash } = checked.value
    if (number === last?.number && hash === last.hash) return []
    const message = `the newest entry was ${number} with the hash ${hash}; it is not the last one.`
    return [{ code: 'cut', number, message }]
  }
  const why = checked === null ? 'is missing' : `can't be used: ${checked.fault}`
  return [{ code: 'damaged', number: null, message: `the file of the newest entry ${why}.` }]
}

/** Checks the signatures: each has to be valid, and the newest entry needs one. */
function checkSignatures(
  placed: Placed[],
  texts: ChainToVerify['texts'],
  verifies: (text: string, signature: Buffer) => boolean,
): { count: number; findings: ChainFinding[] } {
  const findings: ChainFinding[] = []
  let [count, last] = [0, 0]
  for (const { number, text } of placed) {
    const written = texts.get(`${nameEntry(number)}.sig`)
    if (written === undefined) continue
    const signature = Buffer.from(written, 'base64')
    // Base64 has several spellings of the same bytes.
    if (`${signature.toString('base64')}\n` === written && verifies(text, signature)) {
      count++
      last = number
    } else
      findings.push({
        code: 'unsigned',
        number,
        message: `the signature of entry ${number} is not valid.`,
      })
  }
  const newest = placed.at(-1)?.number ?? 0
  if (last !== newest)
    findings.push({
      code: 'unsigned',
      number: newest,
      message:
        last === 0
          ? 'no entry has a valid signature.'
          : `no valid signature covers the entries after ${last}.`,
    })
  return { count, findings }
}
