import { basename, dirname } from 'node:path'
import { findMax, getOrAdd } from '../../core/model/lists.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { StatePaths } from '../format/state-paths.ts'
import { hashStored } from '../format/chain-entry.ts'
import { parseEntry, parseBatch, type JournalEntry } from '../format/journal.ts'
import { createDamagedFileError } from '../format/parse-file.ts'
import { loadNamed } from './load-files.ts'
import { listSettled } from './settled-writes.ts'
import type { SharedFiles } from './state-files.ts'
import type { LateCalls, RecordedItem, RecordedState, Batch } from './store.ts'

/** An apply whose process died, and its domains with the items that it left in-doubt. */
export interface UnfinishedApply {
  entry: JournalEntry
  domains: RecordedState
  /** The domains that it may have changed. */
  reach: ReadonlySet<Domain>
  /** Hash of its batches. */
  intents: string
}

/** Loads the entries of applies that have not ended. */
async function loadOpenEntries(files: SharedFiles, paths: StatePaths): Promise<JournalEntry[]> {
  const markers = [...(await files.load(paths.open)).keys()]
  if (markers.length === 0) return []
  const entries = await loadEntries(files, paths)
  return markers.map((path) => {
    const entry = entries.find(({ id }) => paths.marker(id) === path)
    if (entry === undefined)
      throw createDamagedFileError(
        files.describePath(path),
        'the journal has no entry for this apply',
        'journal',
      )
    return entry
  })
}

/** Loads the entries of all applies, or of those with some ids. */
export function loadEntries(
  files: SharedFiles,
  paths: StatePaths,
  ids?: string[],
): Promise<JournalEntry[]> {
  const own = ids?.map((id) => paths.entry(id))
  return loadNamed(files, paths.journal, 'journal', parseEntry, ({ id }) => id, own)
}

/** Loads the batches of an apply, in order. */
export async function loadBatches(
  files: SharedFiles,
  paths: StatePaths,
  apply: string,
): Promise<Omit<Batch, 'number'>[]> {
  return parseBatches(files, paths, apply, await files.load(`${paths.batches}/${apply}`))
}

/** @param texts of all batches of an apply, by path */
export function parseBatches(
  files: SharedFiles,
  paths: StatePaths,
  apply: string,
  texts: ReadonlyMap<string, string>,
): Omit<Batch, 'number'>[] {
  return Array.from(texts.keys(), (_path, i) => {
    const path = paths.batch(apply, i + 1)
    const text = texts.get(path)
    if (text === undefined)
      throw createDamagedFileError(
        files.describePath(`${paths.batches}/${apply}`),
        `expected ${texts.size} batches, ${i + 1}.json is missing`,
        'journal',
      )
    return parseBatch(files.describePath(path), text)
  })
}

/** Returns the state of the items before the batches of an apply; null if unrecorded. */
export function mergeBefore(batches: Pick<Batch, 'before'>[]): Batch['before'] {
  const before = new Map<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>()
  for (const batch of batches) {
    for (const [domain, items] of batch.before) {
      // An earlier batch of the apply may have changed an item already: its first value counts.
      before.set(domain, new Map([...items, ...(before.get(domain) ?? [])]))
    }
  }
  return before
}

/** Loads the facts that limit the late effects of an apply that died. */
export async function loadLateCalls(
  files: SharedFiles,
  paths: StatePaths,
  apply: string,
): Promise<LateCalls> {
  const batches = await loadBatches(files, paths, apply)
  const entry = (await loadEntries(files, paths)).find(({ id }) => id === apply)
  return {
    before: mergeBefore(batches),
    landWithinMs: findMax(
      batches.map((batch) => batch.landWithinMs),
      0,
    ),
    open: entry === undefined ? new Map() : findDoubts(entry, batches, new Map()),
  }
}

/**
 * Finds the domains that an apply left in-doubt, with all of their items.
 *
 * @param batches the batches of the apply
 */
export function findDoubts(
  entry: JournalEntry,
  batches: Pick<Batch, 'intents'>[],
  recorded: RecordedState,
): RecordedState {
  const settled = listSettled(entry, batches)
  const doubted: RecordedState = new Map()
  // Items of settled writes: a later write of the same item may be in flight.
  const settledItems = new Set<string>()
  for (const { intents } of batches) {
    for (const [write, domains] of intents) {
      if (settled.has(write)) {
        for (const [domain, intended] of domains)
          for (const item of intended.keys()) settledItems.add(`${domain} ${item}`)
        continue
      }
      for (const [domain, intended] of domains) {
        const items = getOrAdd(doubted, domain, () => new Map(recorded.get(domain)))
        for (const [item, state] of intended) {
          const known = items.get(item)
          const isOwnPart =
            known?.apply === entry.id &&
            known.open !== true &&
            !settledItems.has(`${domain} ${item}`)
          if (!isOwnPart) items.set(item, { ...state, open: true })
          // A part of the write that was confirmed is final. Another may be sent again.
          else if (known.status === 'in-doubt') items.set(item, reopen(known))
        }
      }
    }
  }
  return doubted
}

/** Returns an in-doubt item as one that a call in flight may still change. */
function reopen({ answered: _answered, ...state }: RecordedItem): RecordedItem {
  return { ...state, open: true }
}

/** Loads the applies that have not ended, and updates the state by their intents. */
export async function loadUnfinished(
  files: SharedFiles,
  paths: StatePaths,
  recorded: RecordedState,
): Promise<UnfinishedApply[]> {
  const unfinished: UnfinishedApply[] = []
  for (const entry of await loadOpenEntries(files, paths)) {
    const texts = await files.load(`${paths.batches}/${entry.id}`)
    const batches = parseBatches(files, paths, entry.id, texts)
    const domains = findDoubts(entry, batches, recorded)
    for (const [domain, items] of domains) recorded.set(domain, items)
    const intents = hashStored(paths, entry.id, texts)
    unfinished.push({ entry, domains, reach: listReach(batches), intents })
  }
  return unfinished
}

/**
 * Names applies by the paths of their journal entries, with the workspace if it is another one.
 *
 * @param about added to the names of applies of other workspaces
 */
export function nameApplies({ journal }: StatePaths, entries: string[], about = ''): string[] {
  return entries.map((path) => {
    const apply = basename(path, '.json')
    if (dirname(path) === journal) return apply
    return `${apply} of the workspace "${path.split('/')[0] ?? ''}"${about}`
  })
}

/** Lists the domains that batches may have changed. */
export function listReach(batches: Pick<Batch, 'before'>[]): Set<Domain> {
  return new Set(batches.flatMap(({ before }) => [...before.keys()]))
}

/** Tests whether a set has a domain of another one. */
export function overlaps(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].some((domain) => all.has(domain))
}

/** Tests whether a set has all domains of another one. */
export function covers(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].every((domain) => all.has(domain))
}
