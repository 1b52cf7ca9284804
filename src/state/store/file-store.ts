import type { Applied } from '../../core/model/applied.ts'
import type { DomainMove } from '../../core/model/config.ts'
import { restraintsFile } from '../../core/model/generated/state-validators.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import { isUnfinished, type Rollout } from '../../core/model/rollout.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { TrafficProfile } from '../../core/model/traffic.ts'
import { openCallLedger, loadKnownCalls } from './call-ledger.ts'
import { addDoubtMark, type MarkedApply } from './doubt-marks.ts'
import { Chain } from './chain.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { formatCalls, type Call } from '../format/calls.ts'
import { describeApplied, hashBatches, hashEntry, type HistoryNote } from '../format/chain-entry.ts'
import { formatDomainFiles } from '../format/domain-file.ts'
import { formatEntry, formatMarker, formatBatch, toApplied } from '../format/journal.ts'
import { formatFile } from '../format/parse-file.ts'
import { formatRollout } from '../format/rollout-file.ts'
import { buildBudgetPath } from '../format/state-paths.ts'
import { formatEntryMessage, formatOutcomeMessage } from '../git/messages.ts'
import { buildEnded, loadRollouts } from './load-files.ts'
import { loadEntries, nameApplies, type UnfinishedApply } from './load-journal.ts'
import { loadState, buildClosing } from './load-state.ts'
import { LockedDomains, refuseSameId } from '../locks/locked-domains.ts'
import { buildMoves, findMoves, loadMoves, moveRecorded, moveRollout } from './moved-domains.ts'
import { buildMove } from './move-state.ts'
import { refuseMigrated, refuseOwned } from './owners.ts'
import { buildPrune } from './prune.ts'
import type { Register } from './register.ts'
import { addSalt } from './salt.ts'
import { createSerialQueue } from './serial-queue.ts'
import { addBatch, addSettled, noneSettled } from './settled-writes.ts'
import { listRolloutDomains } from './spans.ts'
import type { Guard, StateFiles } from './state-files.ts'
import { addProfile, formatFigures, loadFigures } from './traffic.ts'
import { FileStateReader } from './file-state-reader.ts'
import type {
  KnownCalls,
  Moves,
  RecordedRestraints,
  RecordedState,
  StateKey,
  Store,
  Batch,
} from './store.ts'

/** State in files: one for each domain, the journal, and a marker for each unfinished apply. */
export class FileStore extends FileStateReader implements Store {
  readonly location: string
  readonly chain: Chain
  readonly share: Store['share']
  readonly openCallLedger: Store['openCallLedger']
  readonly checkpoint: Store['checkpoint']
  readonly #budgetPath: string
  /** Unfinished applies at the last load; the next change of the state closes them. */
  #unfinished: UnfinishedApply[] = []
  /** Doubt marks at the last load, and their domains; the next change of the state removes them. */
  #marked: MarkedApply[] = []
  #settled = noneSettled
  /** Hash of the batches of the running apply. */
  #intents = ''
  /** Path of a batch that may be stored although its recording failed; the end removes it. */
  #unsure: string | null = null
  /** Salt of fingerprints that the next change stores; null if it is stored. */
  #newSalt: string | null = null
  /** Domains that had state at the last load. */
  #known: ReadonlySet<Domain> = new Set()
  readonly #locked = new LockedDomains()
  #moves: DomainMove[] = []
  /** Of the last load, as its state. */
  #found: Moves = { pending: [], conflicting: [] }
  /** State of the pending moves at their new names. */
  #moving: RecordedState = new Map()
  readonly #queue = createSerialQueue()

  /** @param callRegister has the calls of processes with other stores; null if it is not shared */
  constructor(
    files: StateFiles,
    key: StateKey,
    account: string,
    callRegister: Register | null = null,
  ) {
    super(files, key)
    this.openCallLedger = (apply, previous, here) =>
      callRegister === null ? null : openCallLedger(callRegister, apply, previous, here)
    this.#budgetPath = buildBudgetPath(key.address, account)
    this.chain = new Chain(files, this.paths)
    this.location = files.describePath(this.paths.domains)
    this.share = files.share
    this.checkpoint = files.checkpoint
  }

  async load(): Promise<RecordedState> {
    this.files.refresh()
    await refuseMigrated(this.files, this.key)
    await this.chain.reload()
    const { recorded, unfinished, marked } = await loadState(this.files, this.paths)
    this.#unfinished = unfinished.filter(({ reach }) => this.#locked.cover(reach))
    this.#marked = marked.filter(({ reach }) => this.#locked.cover(reach))
    this.#known = new Set(recorded.keys())
    const own = this.#moves.filter(({ from, to }) => this.#locked.cover([from, to]))
    this.#found = await findMoves(own, recorded, () => loadMoves(this.files, this.paths))
    moveRecorded(this.#found.pending, recorded)
    this.#moving = new Map(this.#found.pending.map(({ to }) => [to, recorded.get(to) ?? new Map()]))
    this.renaming = null
    return recorded
  }

  useMoves(moves: DomainMove[]): void {
    this.#moves = moves
  }

  listMoves(): Moves {
    return this.#found
  }

  async saveMoves(at: string, why: string): Promise<void> {
    const { pending } = this.#found
    const steps = await buildMoves(this.files, this.paths, pending, this.#moving, at)
    await this.#publish(steps, why, this.#guardNew(pending.map(({ to }) => to)))
    this.#found = { ...this.#found, pending: [] }
    this.renaming = null
  }

  lockOnly(domains: ReadonlySet<Domain> | null): void {
    this.#locked.domains = domains
  }

  async shareEarlier(): Promise<string[]> {
    const { paths, commit } = await this.files.listDropped()
    await this.share?.()
    return nameApplies(this.paths, paths, ` (commit ${commit?.slice(0, 12) ?? ''})`)
  }

  listUnfinished(): Applied[] {
    return this.#unfinished.map(({ entry }) => toApplied(entry))
  }

  async listApplies(ids?: string[]): Promise<Applied[]> {
    const entries = await loadEntries(this.files, this.paths, ids)
    return entries.map(toApplied).toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  }

  async recordIntents(apply: Applied, batch: Batch): Promise<void> {
    if (batch.number === 1) [this.#settled, this.#intents] = [noneSettled, '']
    const path = this.paths.batch(apply.id, batch.number)
    const text = formatBatch(batch)
    const intent = new Map([
      [path, text],
      [this.paths.entry(apply.id), this.#formatEntry(apply)],
    ])
    const marker = new Map([[this.paths.marker(apply.id), formatMarker(apply.id)]])
    const domains = [...batch.intents.values()].flatMap((written) => [...written.keys()])
    const message = formatEntryMessage(apply, batch)
    this.#locked.refuseOthers([...batch.before.keys(), ...domains])
    const guard = this.#guardNew(domains)
    const guardAll: Guard = async (files) => {
      await guard?.(files)
      await refuseSameId(files, path, text)
    }
    this.#unsure = path
    await this.#publish([intent, marker], message, this.#locked.domains === null ? guard : guardAll)
    this.#unsure = null
    this.#settled = addBatch(this.#settled, batch)
    this.#intents = hashBatches([text], this.#intents)
  }

  recordOutcomes(apply: Applied, writes: number[], domains: RecordedState): Promise<void> {
    return this.#queue(async () => {
      // A write counts as settled once its outcome is recorded: a later outcome must not settle one
      // whose recording failed.
      const settled = addSettled(this.#settled, writes)
      const entry = this.#formatEntry(apply, settled)
      await this.files.record(
        [formatDomainFiles(this.paths, domains), new Map([[this.paths.entry(apply.id), entry]])],
        formatOutcomeMessage(apply, writes, domains),
      )
      this.#settled = settled
    })
  }

  async endApply(apply: Applied): Promise<void> {
    const notes = describeApplied(apply, this.#intents)
    ;[this.#settled, this.#intents] = [noneSettled, '']
    const steps = [
      new Map([[this.paths.entry(apply.id), this.#formatEntry(apply)]]),
      new Map([this.paths.marker(apply.id), this.#unsure ?? []].flat().map((path) => [path, null])),
    ]
    this.#unsure = null
    const message = formatEntryMessage(apply, null)
    await this.chain.append(notes, undefined, (entries, guard) =>
      guard === undefined
        ? this.files.write([entries, ...steps], message)
        : this.files.publish([entries, ...steps], message, guard),
    )
  }

  markDoubtful(apply: string, writes: number[], cleared: ItemKey[]): Promise<void> {
    return addDoubtMark(this.files, this.paths, { apply, writes, cleared })
  }

  async save(domains: RecordedState, why: string): Promise<void> {
    const recorded = [...domains].flatMap(([domain, { size }]) => (size === 0 ? [] : [domain]))
    this.#locked.refuseOthers(domains.keys())
    await this.#publish([formatDomainFiles(this.paths, domains)], why, this.#guardNew(recorded))
  }

  async move(domains: RecordedState, to: string, why: string): Promise<void> {
    const { steps, guard } = await buildMove(this.files, this.key, domains, to)
    await this.#publish(steps, why, guard)
  }

  async prune(applies: Applied[], why: string, note: HistoryNote): Promise<void> {
    const { steps, listed } = await buildPrune(this.files, this.paths, applies)
    this.chain.add({ ...note, journal: hashEntry(listed) })
    await this.#publish(steps, why)
  }

  keepSalt(salt: string): void {
    this.#newSalt = salt
  }

  async listRollouts(): Promise<Rollout[]> {
    const rollouts = await loadRollouts(this.files, this.paths.rollouts)
    return rollouts
      .map((each) => moveRollout(this.#found.pending, each))
      .filter((each) => this.#locked.cover(listRolloutDomains(each)))
  }

  async hashRollouts(): Promise<string | null> {
    return (await this.files.hashFolder?.(this.paths.rollouts)) ?? null
  }

  listEnded(): Promise<Rollout[]> {
    return loadRollouts(this.files, this.paths.ended)
  }

  async saveRollout(rollout: Rollout, why: string): Promise<void> {
    const { id, onHold, unhealthy = {} } = rollout
    const isOver = !isUnfinished(rollout)
    const isLeft = isOver && Object.keys({ ...onHold, ...unhealthy }).length === 0
    const step = new Map([[this.paths.rollout(id), isLeft ? null : formatRollout(rollout)]])
    const ended = isOver ? await buildEnded(this.files, this.paths, rollout) : new Map()
    await this.#publish([step, ended], why)
  }

  async saveRestraints(restraints: RecordedRestraints): Promise<void> {
    const text = formatFile(restraintsFile, restraints, 1)
    await this.#publish([new Map([[this.paths.restraints, text]])], 'Record what restrains changes')
  }

  async recordTraffic(profile: TrafficProfile): Promise<void> {
    this.files.refresh()
    await refuseMigrated(this.files, this.key)
    const figures = addProfile(await loadFigures(this.files, this.paths), profile)
    const text = formatFigures(figures)
    const message = `Count the traffic of ${pluralize(profile.domains.size, 'domain')}`
    // Git adds to a branch that is there.
    if ((await this.files.listTopFolders()).length > 0)
      await this.files.add(this.paths.traffic, text, message)
    else await this.files.publish([new Map([[this.paths.traffic, text]])], message)
  }

  async loadCalls(): Promise<KnownCalls> {
    const died = this.share === null ? [] : this.#unfinished.map(({ entry }) => entry.id)
    return loadKnownCalls(this.files, this.#budgetPath, died)
  }

  async saveCalls(apply: string, calls: Call[]): Promise<void> {
    await this.files.saveLocally(this.#budgetPath, formatCalls(apply, calls))
  }

  /** Publishes changes, and closes the unfinished applies in the same step. */
  async #publish(steps: FileChanges[], message: string, guard?: Guard): Promise<void> {
    const closing = buildClosing(this.key, this.#unfinished, this.#marked)
    const salt = addSalt(this.paths, this.#newSalt, guard)
    const closed = this.#unfinished.flatMap(({ entry, intents }) =>
      describeApplied({ ...toApplied(entry), outcome: 'interrupted' }, intents),
    )
    await this.chain.append(closed, salt.guard, (entries, guardAll) =>
      this.files.publish([entries, salt.files, ...closing, ...steps], message, guardAll),
    )
    ;[this.#unfinished, this.#marked, this.#newSalt] = [[], [], null]
  }

  /** Builds the guard of a change after which this workspace manages more domains. */
  #guardNew(domains: Domain[]): Guard | undefined {
    const added = new Set(domains.filter((domain) => !this.#known.has(domain)))
    return added.size === 0 ? undefined : (files) => refuseOwned(files, this.key, added)
  }

  #formatEntry(apply: Applied, { settled, settledBatches } = this.#settled): string {
    return formatEntry({ ...apply, settledBatches, settled })
  }
}
