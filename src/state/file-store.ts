import type { Applied } from '../model/applied.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import { formatCalls, parseCalls, type Call } from './format/calls.ts'
import { formatDomainFile, parseDomainFile } from './format/domain-file.ts'
import { parseJson } from '../model/json.ts'
import { createSerialQueue } from './serial-queue.ts'
import {
  formatEntry,
  formatMarker,
  formatWave,
  parseEntry,
  parseWave,
  type JournalEntry,
} from './format/journal.ts'
import { formatEntryMessage, formatOutcomeMessage } from './git/messages.ts'
import type { KnownCalls, StateKey, RecordedState, RecordedItem, Store, Wave } from './store.ts'
import type { StateFiles } from './state-files.ts'
import { buildBudgetPath, buildStatePaths, type StatePaths } from './format/state-paths.ts'
import { formatAddress, parseAddress } from './format/address-file.ts'
import { createDamagedFileError } from './format/parse-file.ts'
import { formatRollout, parseRollout } from './format/rollout-file.ts'
import type { FileChanges } from './folder/write-file.ts'

/** A record in files: one a domain, the journal, and a marker for each apply that has not ended. */
export function openFileStore(files: StateFiles, key: StateKey, account: string): Store {
  return new FileStore(files, key, account)
}

/** An apply that was cut off, and its domains with what it left in doubt. */
interface CutOff {
  entry: JournalEntry
  domains: RecordedState
}

class FileStore implements Store {
  readonly location: string
  readonly share: Store['share']
  readonly #files: StateFiles
  readonly #key: StateKey
  readonly #paths: StatePaths
  readonly #budget: string
  /** Applies that were cut off, as of the last load; the next change of the record closes them. */
  #cutOff: CutOff[] = []
  #settled: number[] = []
  readonly #turn = createSerialQueue()

  constructor(files: StateFiles, key: StateKey, account: string) {
    this.#files = files
    this.#key = key
    this.#paths = buildStatePaths(key)
    this.#budget = buildBudgetPath(key.address, account)
    this.location = files.describePath(this.#paths.domains)
    this.share = files.share
  }

  async load(): Promise<RecordedState> {
    this.#files.refresh()
    const recorded: RecordedState = new Map()
    for (const [path, text] of await this.#files.load(this.#paths.domains)) {
      const { domain, items } = parseDomainFile(this.#files.describePath(path), text)
      if (path !== this.#paths.domain(domain)) {
        throw createDamagedFileError(
          this.#files.describePath(path),
          `it says it is of ${domain}, whose place is ${this.#files.describePath(this.#paths.domain(domain))}`,
          'domain',
        )
      }
      recorded.set(domain, items)
    }
    this.#cutOff = []
    for (const entry of await this.#openEntries()) {
      const domains = await this.#doubts(entry, recorded)
      for (const [domain, items] of domains) recorded.set(domain, items)
      this.#cutOff.push({ entry, domains })
    }
    return recorded
  }

  listUnfinished(): Applied[] {
    return this.#cutOff.map(({ entry: { settled: _settled, ...applied } }) => applied)
  }

  async listOtherAddresses(): Promise<string[]> {
    const found = await this.#files.load(this.#paths.addresses)
    return [...found].flatMap(([path, text]) => {
      const address = path === this.#paths.address ? null : parseAddress(text)
      return address === null ? [] : [address]
    })
  }

  async listApplies(): Promise<Applied[]> {
    const entries = await this.#entries()
    return entries
      .map(({ settled: _settled, ...applied }) => applied)
      .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  }

  async loadStateBefore(apply: string): Promise<Wave['before']> {
    const before = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
    for (const wave of await this.#waves(apply)) {
      for (const [domain, items] of wave.before) {
        // What an earlier wave of the apply had changed already was something else before the
        // apply.
        before.set(domain, new Map([...items, ...(before.get(domain) ?? [])]))
      }
    }
    return before
  }

  async recordIntents(apply: Applied, wave: Wave): Promise<void> {
    if (wave.number === 1) this.#settled = []
    const intent = new Map([
      [this.#paths.wave(apply.id, wave.number), formatWave(wave)],
      [this.#paths.entry(apply.id), this.#entryText(apply)],
    ])
    const marker = new Map([[this.#paths.marker(apply.id), formatMarker(apply.id)]])
    await this.#publish([intent, marker], formatEntryMessage(apply, wave))
  }

  recordOutcomes(apply: Applied, writes: number[], domains: RecordedState): Promise<void> {
    return this.#turn(async () => {
      // A write counts as settled once what came of it stands in the record: a later one must not
      // say so of one that failed.
      const settled = [...this.#settled, ...writes]
      const entry = formatEntry({ ...apply, settled })
      await this.#files.write(
        [this.#domainFiles(domains), new Map([[this.#paths.entry(apply.id), entry]])],
        formatOutcomeMessage(apply, writes, domains),
      )
      this.#settled = settled
    })
  }

  async endApply(apply: Applied): Promise<void> {
    this.#settled = []
    await this.#files.write(
      [
        new Map([[this.#paths.entry(apply.id), this.#entryText(apply)]]),
        new Map([[this.#paths.marker(apply.id), null]]),
      ],
      formatEntryMessage(apply, null),
    )
  }

  async save(domains: RecordedState, why: string): Promise<void> {
    await this.#publish([this.#domainFiles(domains)], why)
  }

  async listRollouts(): Promise<Rollout[]> {
    const found = await this.#files.load(this.#paths.rollouts)
    return [...found]
      .map(([path, text]) => {
        const rollout = parseRollout(this.#files.describePath(path), text)
        if (path !== this.#paths.rollout(rollout.id))
          throw createDamagedFileError(
            this.#files.describePath(path),
            `it says it is of ${rollout.id}`,
            'rollout',
          )
        return rollout
      })
      .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  }

  async saveRollout(rollout: Rollout, why: string): Promise<void> {
    await this.#publish([new Map([[this.#paths.rollout(rollout.id), formatRollout(rollout)]])], why)
  }

  async deleteRollouts(ids: string[], why: string): Promise<void> {
    await this.#publish([new Map(ids.map((id) => [this.#paths.rollout(id), null]))], why)
  }

  async loadCalls(): Promise<KnownCalls> {
    const { here, shared } = await this.#files.loadLocalAndShared(this.#budget)
    const [own, others] = [
      parseCalls(parseJson(here ?? 'null')),
      parseCalls(parseJson(shared ?? 'null')),
    ]
    const incomplete = this.#cutOff.some(({ entry }) => entry.id !== own.apply)
    return {
      calls: knownOf(own.calls, others.calls),
      incomplete: this.share !== null && incomplete,
    }
  }

  async saveCalls(apply: string, calls: Call[]): Promise<void> {
    await this.#files.saveLocally(this.#budget, formatCalls(apply, calls))
  }

  /**
   * Publishes, and closes what was cut off in the same breath: what it left in doubt moves to the
   * domains' own files.
   */
  async #publish(steps: FileChanges[], message: string): Promise<void> {
    const paths = this.#paths
    const { id, address } = this.#key
    const doubts = new Map<string, string | null>([[paths.address, formatAddress({ id, address })]])
    const entries = new Map<string, string>()
    const markers = new Map<string, null>()
    for (const { entry, domains } of this.#cutOff) {
      for (const [path, text] of this.#domainFiles(domains)) doubts.set(path, text)
      entries.set(paths.entry(entry.id), formatEntry(entry))
      markers.set(paths.marker(entry.id), null)
    }
    await this.#files.publish([doubts, entries, markers, ...steps], message)
    this.#cutOff = []
  }

  #domainFiles(domains: RecordedState): Map<string, string | null> {
    return new Map(
      [...domains].map(([domain, items]) => [
        this.#paths.domain(domain),
        items.size === 0 ? null : formatDomainFile(domain, items),
      ]),
    )
  }

  #entryText(apply: Applied): string {
    return formatEntry({ ...apply, settled: this.#settled })
  }

  async #openEntries(): Promise<JournalEntry[]> {
    const markers = [...(await this.#files.load(this.#paths.open)).keys()]
    if (markers.length === 0) return []
    const entries = await this.#entries()
    return markers.map((path) => {
      const entry = entries.find(({ id }) => this.#paths.marker(id) === path)
      if (entry === undefined)
        throw createDamagedFileError(
          this.#files.describePath(path),
          'the journal does not know this apply',
          'journal',
        )
      return entry
    })
  }

  async #entries(): Promise<JournalEntry[]> {
    const found = await this.#files.load(this.#paths.journal)
    return [...found].map(([path, text]) => {
      const entry = parseEntry(this.#files.describePath(path), text)
      if (path !== this.#paths.entry(entry.id))
        throw createDamagedFileError(
          this.#files.describePath(path),
          `it says it is of ${entry.id}`,
          'journal',
        )
      return entry
    })
  }

  async #waves(apply: string): Promise<Pick<Wave, 'before' | 'intents'>[]> {
    const folder = `${this.#paths.waves}/${apply}`
    const texts = await this.#files.load(folder)
    return Array.from(texts.keys(), (_path, i) => {
      const path = this.#paths.wave(apply, i + 1)
      const text = texts.get(path)
      if (text === undefined)
        throw createDamagedFileError(
          this.#files.describePath(folder),
          `expected ${texts.size} waves, and ${i + 1}.json is not there`,
          'journal',
        )
      return parseWave(this.#files.describePath(path), text)
    })
  }

  /** The domains that an apply left in doubt, with all of their items. */
  async #doubts(entry: JournalEntry, recorded: RecordedState): Promise<RecordedState> {
    const settled = new Set(entry.settled)
    const doubted: RecordedState = new Map()
    let unsettled = 0
    for (const { intents } of await this.#waves(entry.id)) {
      for (const [write, domains] of intents) {
        if (settled.has(write)) continue
        unsettled++
        for (const [domain, intended] of domains) {
          const items = doubted.get(domain) ?? new Map(recorded.get(domain))
          for (const [item, held] of intended) {
            // What the apply has recorded itself is what came of it.
            if (items.get(item)?.apply !== entry.id || items.get(item)?.open === true)
              items.set(item, { ...held, open: true })
          }
          doubted.set(domain, items)
        }
      }
    }
    entry.writes.inDoubt += unsettled
    return doubted
  }
}

/**
 * The calls that either knows of. Several calls may have the same time: what another machine told
 * counts as of one moment.
 */
function knownOf(own: Call[], others: Call[]): Call[] {
  const unseen = own.map(nameOf)
  const more = others.filter((call) => {
    const at = unseen.indexOf(nameOf(call))
    if (at !== -1) unseen.splice(at, 1)
    return at === -1
  })
  return [...own, ...more]
}

function nameOf({ boot, up, at }: Call): string {
  return `${boot} ${up} ${at}`
}
