import type { Domain, ItemKey } from '../../core/model/item.ts'
import { restraintsFile } from '../../core/model/generated/state-validators.ts'
import { parseFile } from '../format/parse-file.ts'
import { buildStatePaths, type StatePaths } from '../format/state-paths.ts'
import {
  loadLateCalls,
  loadBatches,
  mergeBefore,
  nameApplies,
  findDoubts,
  loadEntries,
  parseBatches,
} from './load-journal.ts'
import { createRenaming, type Renaming, listNames, loadMoves } from './moved-domains.ts'
import { findOwners, knowsWorkspace, listOtherAddresses, refuseMigrated } from './owners.ts'
import { loadPruned } from './prune.ts'
import { loadSalt } from './salt.ts'
import { findEntangled, listDomains } from './spans.ts'
import type { StateFiles } from './state-files.ts'
import { loadFigures, pickProfile } from './traffic.ts'
import type {
  DomainHistory,
  IntendedChanges,
  RecordedRestraints,
  StateKey,
  Batch,
  DomainApply,
  IntendedItem,
  RecordedItem,
  RecordedState,
} from './store.ts'
import { dirname } from 'node:path'
import { groupBy, getOrAdd } from '../../core/model/lists.ts'
import { loadMarkedApplies } from './doubt-marks.ts'
import { parseDomainFile } from '../format/domain-file.ts'
import { parseBatch, toApplied, type JournalEntry } from '../format/journal.ts'

/** The part of a store that only reads its files, and needs no load before. */
export class FileStateReader {
  protected readonly files: StateFiles
  protected readonly key: StateKey
  protected readonly paths: StatePaths
  /** Null until it is needed, and after a move. */
  protected renaming: Promise<Renaming> | null = null

  constructor(files: StateFiles, key: StateKey) {
    this.files = files
    this.key = key
    this.paths = buildStatePaths(key)
  }

  /** Loads the recorded moves once, until one is added. */
  #loadRenaming(): Promise<Renaming> {
    return (this.renaming ??= createRenaming(this.files, this.paths))
  }

  listDomains() {
    return listDomains(this.files, this.paths)
  }

  findEntangled(domains: Iterable<Domain>) {
    return findEntangled(this.files, this.paths, domains)
  }

  async listUnshared() {
    return nameApplies(this.paths, (await this.files.listUnshared()).paths)
  }

  findOwners(domains: Iterable<Domain>) {
    return findOwners(this.files, this.key, domains)
  }

  knowsWorkspace(id: string) {
    return knowsWorkspace(this.files, { ...this.key, id })
  }

  listOtherAddresses() {
    return listOtherAddresses(this.files, this.paths)
  }

  listPruned() {
    return loadPruned(this.files, this.paths)
  }

  async loadStateBefore(apply: string) {
    const rename = await this.#loadRenaming()
    return rename(apply)(mergeBefore(await loadBatches(this.files, this.paths, apply)))
  }

  loadDomainHistory(domain: Domain) {
    return loadDomainHistory(this.files, this.key, domain)
  }

  async loadIntended(applies: string[]) {
    const rename = await this.#loadRenaming()
    const intended = await loadIntended(this.files, this.paths, applies)
    return new Map(Array.from(intended, ([apply, changes]) => [apply, rename(apply)(changes)]))
  }

  async loadLateCalls(apply: string) {
    const rename = (await this.#loadRenaming())(apply)
    const { before, open, ...late } = await loadLateCalls(this.files, this.paths, apply)
    return { ...late, before: rename(before), open: rename(open) }
  }

  async loadTraffic(asOf?: number) {
    return pickProfile(await loadFigures(this.files, this.paths), asOf)
  }

  async loadRestraints(): Promise<RecordedRestraints | null> {
    const path = this.paths.restraints
    const text = (await this.files.load(path)).get(path)
    if (text === undefined) return null
    return parseFile(this.files.describePath(path), text, 'restraints', restraintsFile)
  }

  loadSalt() {
    return loadSalt(this.files, this.paths)
  }
}

type Batches = Pick<Batch, 'before' | 'intents'>[]

/**
 * Loads what each apply intended for one domain, and the state of the domain. No state need be
 * loaded before.
 */
async function loadDomainHistory(
  files: StateFiles,
  key: StateKey,
  domain: Domain,
): Promise<DomainHistory> {
  files.refresh()
  await refuseMigrated(files, key)
  const paths = buildStatePaths(key)
  const entries = (await loadEntries(files, paths)).toSorted((a, b) =>
    a.startedAt < b.startedAt ? -1 : 1,
  )
  const names = listNames(domain, await loadMoves(files, paths))
  const found = new Map<Domain, ReadonlyMap<string, string> | undefined>()
  for (const { name } of names) found.set(name, await files.loadNaming?.(paths.batches, name))
  const recorded = await loadDomain(files, paths, domain)
  const applies: DomainApply[] = []
  for (const entry of entries) {
    const folder = `${paths.batches}/${entry.id}`
    const { name = domain } =
      names.find(({ until }) => until === null || entry.startedAt < until) ?? {}
    const texts = found.get(name) ?? (await files.load(folder))
    const batches = parseNaming(files, texts, folder, name)
    addDoubts(entry, batches, recorded)
    const items = collectIntended(batches).get(name) ?? new Map<ItemKey, IntendedItem>()
    if (items.size > 0) applies.push({ apply: toApplied(entry), items })
  }
  await loadMarkedApplies(files, paths, recorded)
  const { applies: pruned, dropped } = await loadPruned(files, paths)
  const ids = new Set(entries.map(({ id }) => id))
  return {
    applies,
    recorded: recorded.get(domain) ?? new Map<ItemKey, RecordedItem>(),
    pruned: dropped + pruned.filter(({ id }) => !ids.has(id)).length,
  }
}

async function loadDomain(
  files: StateFiles,
  paths: StatePaths,
  domain: Domain,
): Promise<RecordedState> {
  const path = paths.domain(domain)
  const text = (await files.load(dirname(path))).get(path)
  return new Map(
    text === undefined ? [] : [[domain, parseDomainFile(files.describePath(path), text).items]],
  )
}

/** Parses the batches of an apply that name a domain, by number from 1; other ones are empty. */
function parseNaming(
  files: StateFiles,
  texts: ReadonlyMap<string, string>,
  folder: string,
  domain: Domain,
): Batches {
  const batches: Batches = []
  const name = JSON.stringify(domain)
  for (const [path, text] of texts) {
    if (!path.startsWith(`${folder}/`) || !text.includes(name)) continue
    const number = Number(path.slice(folder.length + 1, -'.json'.length))
    batches[number - 1] = parseBatch(files.describePath(path), text)
  }
  return Array.from(batches, (batch) => batch ?? { before: new Map(), intents: new Map() })
}

/** Adds what an apply that has not ended leaves in-doubt now. */
function addDoubts(entry: JournalEntry, batches: Batches, recorded: RecordedState): void {
  if (entry.outcome !== 'unfinished') return
  for (const [name, items] of findDoubts(entry, batches, recorded)) recorded.set(name, items)
}

/** Collects what the batches of an apply intended; the last intent of an item counts. */
function collectIntended(batches: Batches): IntendedChanges {
  const changes = new Map<Domain, Map<ItemKey, IntendedItem>>()
  for (const { before, intents } of batches) {
    const written = new Map<Domain, Map<ItemKey, RecordedItem>>()
    for (const domains of intents.values())
      for (const [domain, items] of domains)
        written.set(domain, new Map([...(written.get(domain) ?? []), ...items]))
    for (const [domain, items] of before) {
      const own = getOrAdd(changes, domain, () => new Map<ItemKey, IntendedItem>())
      for (const [item, state] of items) {
        const intended = written.get(domain)?.get(item)
        // An earlier batch of the apply may have changed the item already.
        const earlier = own.get(item) ?? { before: state, intended: null }
        own.set(item, { ...earlier, intended: intended ?? earlier.intended })
      }
    }
  }
  return changes
}

/** Loads what some applies intended, by their ids. No state need be loaded before. */
async function loadIntended(
  files: StateFiles,
  paths: StatePaths,
  applies: string[],
): Promise<Map<string, IntendedChanges>> {
  const getFolder = (apply: string) => `${paths.batches}/${apply}`
  const texts = groupBy(await files.load(...applies.map(getFolder)), ([path]) => dirname(path))
  return new Map(
    applies.map((apply) => {
      const batches = parseBatches(files, paths, apply, new Map(texts.get(getFolder(apply))))
      return [apply, collectIntended(batches)]
    }),
  )
}
