import type { Domain } from '../../core/model/item.ts'
import { restraintsFile } from '../../core/model/generated/state-validators.ts'
import type { TrafficProfile } from '../../core/model/traffic.ts'
import { loadDomainHistory, loadIntended } from './domain-history.ts'
import { parseFile } from '../format/parse-file.ts'
import { buildStatePaths, type StatePaths } from '../format/state-paths.ts'
import { loadLateCalls, loadBatches, mergeBefore, nameApplies } from './load-journal.ts'
import { createRenaming, type Renaming } from './moved-domains.ts'
import { findOwners, knowsWorkspace, listOtherAddresses } from './owners.ts'
import { loadPruned } from './prune.ts'
import { loadSalt } from './salt.ts'
import { findEntangled, listDomains } from './spans.ts'
import type { StateFiles } from './state-files.ts'
import { loadFigures, pickProfile } from './traffic.ts'
import type {
  DomainHistory,
  IntendedChanges,
  LateCalls,
  PrunedApplies,
  RecordedRestraints,
  StateKey,
  Batch,
} from './store.ts'

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

  listDomains(): Promise<Domain[]> {
    return listDomains(this.files, this.paths)
  }

  findEntangled(domains: Iterable<Domain>): Promise<Set<Domain>> {
    return findEntangled(this.files, this.paths, domains)
  }

  async listUnshared(): Promise<string[]> {
    return nameApplies(this.paths, (await this.files.listUnshared()).paths)
  }

  findOwners(domains: Iterable<Domain>): Promise<Map<Domain, string>> {
    return findOwners(this.files, this.key, domains)
  }

  knowsWorkspace(id: string): Promise<boolean> {
    return knowsWorkspace(this.files, { ...this.key, id })
  }

  listOtherAddresses(): Promise<string[]> {
    return listOtherAddresses(this.files, this.paths)
  }

  listPruned(): Promise<PrunedApplies> {
    return loadPruned(this.files, this.paths)
  }

  async loadStateBefore(apply: string): Promise<Batch['before']> {
    const rename = await this.#loadRenaming()
    return rename(apply)(mergeBefore(await loadBatches(this.files, this.paths, apply)))
  }

  loadDomainHistory(domain: Domain): Promise<DomainHistory> {
    return loadDomainHistory(this.files, this.key, domain)
  }

  async loadIntended(applies: string[]): Promise<Map<string, IntendedChanges>> {
    const rename = await this.#loadRenaming()
    const intended = await loadIntended(this.files, this.paths, applies)
    return new Map(Array.from(intended, ([apply, changes]) => [apply, rename(apply)(changes)]))
  }

  async loadLateCalls(apply: string): Promise<LateCalls> {
    const rename = (await this.#loadRenaming())(apply)
    const { before, open, ...late } = await loadLateCalls(this.files, this.paths, apply)
    return { ...late, before: rename(before), open: rename(open) }
  }

  async loadTraffic(asOf?: number): Promise<TrafficProfile> {
    return pickProfile(await loadFigures(this.files, this.paths), asOf)
  }

  async loadRestraints(): Promise<RecordedRestraints | null> {
    const path = this.paths.restraints
    const text = (await this.files.load(path)).get(path)
    if (text === undefined) return null
    return parseFile(this.files.describePath(path), text, 'restraints', restraintsFile)
  }

  loadSalt(): Promise<string | null> {
    return loadSalt(this.files, this.paths)
  }
}
