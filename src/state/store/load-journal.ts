import { basename, dirname } from 'node:path'
import { findMax } from '../../core/model/lists.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { StatePaths } from '../format/state-paths.ts'
import { parseEntry, parseWave, type JournalEntry } from '../format/journal.ts'
import { createDamagedFileError } from '../format/parse-file.ts'
import { loadNamed } from './load-files.ts'
import { listSettled } from './settled-writes.ts'
import type { SharedFiles } from './state-files.ts'
import type { LateCalls, RecordedItem, RecordedState, Wave } from './store.ts'

/** An apply whose process died, and its domains with the items that it left in-doubt. */
export interface UnfinishedApply {
  entry: JournalEntry
  domains: RecordedState
  /** The domains that it may have changed. */
  reach: ReadonlySet<Domain>
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

/** Loads the entries of all applies. */
export function loadEntries(files: SharedFiles, paths: StatePaths): Promise<JournalEntry[]> {
  return loadNamed(files, paths.journal, 'journal', parseEntry, ({ id }) => id)
}

/** Loads the waves of an apply, in order. */
export async function loadWaves(
  files: SharedFiles,
  paths: StatePaths,
  apply: string,
): Promise<Omit<Wave, 'number'>[]> {
  return parseWaves(files, paths, apply, await files.load(`${paths.waves}/${apply}`))
}

/** @param texts of all waves of an apply, by path */
export function parseWaves(
  files: SharedFiles,
  paths: StatePaths,
  apply: string,
  texts: ReadonlyMap<string, string>,
): Omit<Wave, 'number'>[] {
  return Array.from(texts.keys(), (_path, i) => {
    const path = paths.wave(apply, i + 1)
    const text = texts.get(path)
    if (text === undefined)
      throw createDamagedFileError(
        files.describePath(`${paths.waves}/${apply}`),
        `expected ${texts.size} waves, ${i + 1}.json is missing`,
        'journal',
      )
    return parseWave(files.describePath(path), text)
  })
}

/** Returns the state of the items before the waves of an apply; null if unrecorded. */
export function mergeBefore(waves: Pick<Wave, 'before'>[]): Wave['before'] {
  const before = new Map<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>()
  for (const wave of waves) {
    for (const [domain, items] of wave.before) {
      // An earlier wave of the apply may have changed an item already: its first value counts.
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
  const waves = await loadWaves(files, paths, apply)
  const entry = (await loadEntries(files, paths)).find(({ id }) => id === apply)
  return {
    before: mergeBefore(waves),
    landWithinMs: findMax(
      waves.map((wave) => wave.landWithinMs),
      0,
    ),
    open: entry === undefined ? new Map() : findDoubts(entry, waves, new Map()),
  }
}

/**
 * Finds the domains that an apply left in-doubt, with all of their items.
 *
 * @param waves the waves of the apply
 */
export function findDoubts(
  entry: JournalEntry,
  waves: Pick<Wave, 'intents'>[],
  recorded: RecordedState,
): RecordedState {
  const settled = listSettled(entry, waves)
  const doubted: RecordedState = new Map()
  // Items of settled writes: a later write of the same item may be in flight.
  const settledItems = new Set<string>()
  for (const { intents } of waves) {
    for (const [write, domains] of intents) {
      if (settled.has(write)) {
        for (const [domain, intended] of domains)
          for (const item of intended.keys()) settledItems.add(`${domain} ${item}`)
        continue
      }
      for (const [domain, intended] of domains) {
        const items = doubted.get(domain) ?? new Map(recorded.get(domain))
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
        doubted.set(domain, items)
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
    const waves = await loadWaves(files, paths, entry.id)
    const domains = findDoubts(entry, waves, recorded)
    for (const [domain, items] of domains) recorded.set(domain, items)
    unfinished.push({ entry, domains, reach: listReach(waves) })
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

/** Lists the domains that waves may have changed. */
export function listReach(waves: Pick<Wave, 'before'>[]): Set<Domain> {
  return new Set(waves.flatMap(({ before }) => [...before.keys()]))
}

/** Tests whether a set has a domain of another one. */
export function overlaps(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].some((domain) => all.has(domain))
}

/** Tests whether a set has all domains of another one. */
export function covers(all: ReadonlySet<Domain>, domains: Iterable<Domain>): boolean {
  return [...domains].every((domain) => all.has(domain))
}
