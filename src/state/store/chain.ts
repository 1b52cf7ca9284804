import { basename } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { ChainFile, HeadFile } from '../../core/model/generated/state-types.ts'
import { chainFile, headFile, unlockFile } from '../../core/model/generated/state-validators.ts'
import { parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import {
  formatChainEntry,
  hashEntry,
  hashStored,
  type HistoryNote,
  type Signer,
} from '../format/chain-entry.ts'
import { formatFile, parseFile } from '../format/parse-file.ts'
import { chainPath, groupSize, type StatePaths } from '../format/state-paths.ts'
import type { StoredChain } from '../format/verify-chain.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { Guard, SharedFiles, StateFiles } from './state-files.ts'

type Head = Omit<HeadFile, 'format'>

interface ChainEnd {
  /** Newest entry; null without any. */
  head: Head | null
  /** What was added without the lock since, by path, first to last. */
  later: ReadonlyMap<string, HistoryNote>
}

/** Kinds of the entries that are added without the lock, for the messages of commits. */
const laterKinds = { unlock: 'Removed lock', refusal: 'Refused', decision: 'Decided' }
/** Times that an entry is made again because another process was faster. */
const maxRaces = 20
const movedMessage = 'other commands append to the history at the same time, again and again'

/** The chained history. Entries are appended in the same change as what they record. */
export class Chain {
  readonly #files: StateFiles
  readonly #paths: StatePaths
  /** Null until it is loaded. */
  #end: ChainEnd | null = null
  /** Entries of the next change. */
  #added: HistoryNote[] = []
  /** Newest entry that this process has added; null if it has added none. */
  newest: Head | null = null
  /** Signs entries; null without a key. */
  signer: Signer | null = null

  constructor(files: StateFiles, paths: StatePaths) {
    this.#files = files
    this.#paths = paths
  }

  /**
   * Loads the newest entry: others may have written while the lock was free. Drops added ones.
   *
   * @throws EdgewiseError `record-damaged`
   */
  async reload(): Promise<void> {
    this.#added = []
    this.#end = await loadEnd(this.#files, this.#paths)
  }

  /** Adds an entry to the next change that is for other machines too; a new load drops it. */
  add(note: HistoryNote): void {
    this.#added.push(note)
  }

  /**
   * Makes a change with its entries. Where others may append at the same time, a guard checks that
   * the newest entry is still the same; else the entries are made again.
   *
   * @param notes recorded before those of `add`
   * @param write makes the change, with the files of the entries
   */
  async append(
    notes: HistoryNote[],
    guard: Guard | undefined,
    write: (entries: FileChanges, guard: Guard | undefined) => Promise<void>,
  ): Promise<void> {
    const all = [...notes, ...this.#added]
    this.#added = []
    if (all.length === 0) return write(new Map(), guard)
    // Only stores that read at once have locks of domains.
    const isShared = this.#files.readAtOnce !== undefined
    for (let race = 0; ; race++) {
      // The guard finds out if others have appended since.
      const known = race === 0 ? this.#end : null
      const end = known ?? (await loadEnd(this.#files, this.#paths))
      const { entries, head } = this.#build(all, end)
      let isDone = false
      const guardHead: Guard = async (files) => {
        if ((await loadEnd(files, this.#paths)).head?.hash !== end.head?.hash) {
          // A commit whose answer was lost is tried again, though it has taken effect.
          const path = this.#paths.chainEntry(head.number)
          const folder = path.slice(0, path.lastIndexOf('/'))
          isDone = (await files.load(folder)).get(path) === entries.get(path)
          throw new MovedError('record-moved', movedMessage, 'Run the same command again.')
        }
        await guard?.(files)
      }
      try {
        await write(entries, isShared ? guardHead : guard)
        this.#end = { head, later: new Map() }
      } catch (error) {
        if (!(error instanceof MovedError) || (race === maxRaces && !isDone)) throw error
        this.#end = null
        if (!isDone) continue
      }
      this.newest = head
      return
    }
  }

  /** Builds the files of entries, first those that were added without the lock. */
  #build(notes: HistoryNote[], { head: before, later }: ChainEnd) {
    const paths = this.#paths
    const entries = new Map<string, string | null>([...later.keys()].map((path) => [path, null]))
    let [number, previous] = [before?.number ?? 0, before?.hash ?? null]
    for (const note of [...later.values(), ...notes]) {
      number++
      const text = formatChainEntry({ home: paths.home, number, previous, ...note })
      entries.set(paths.chainEntry(number), text)
      const signature = this.signer?.(text) ?? null
      if (signature !== null) entries.set(paths.signature(number), `${signature}\n`)
      previous = hashEntry(text)
    }
    const head = { number, hash: previous ?? '' }
    entries.set(paths.chainHead, formatFile(headFile, head))
    return { entries, head }
  }

  /** Adds an entry that records no other change. Needs no lock where others may append, too. */
  async record(note: HistoryNote, message: string): Promise<void> {
    await this.append([note], undefined, (entries, guard) =>
      this.#files.publish([entries], message, guard),
    )
  }

  /** Adds an entry without the lock: it comes with the next one. */
  async addLater(note: HistoryNote & { kind: keyof typeof laterKinds }): Promise<void> {
    const text = formatFile(unlockFile, note)
    const path = this.#paths.unlock(hashEntry(text))
    const message = `${laterKinds[note.kind]}: ${note.about}`
    this.#files.refresh()
    // Git adds to a branch that is there.
    if ((await this.#files.listTopFolders()).length > 0) await this.#files.add(path, text, message)
    else await this.#files.publish([new Map([[path, text]])], message)
  }

  /** Loads the hash of the newest entry, without the lock; null without entries. */
  async findNewest(): Promise<string | null> {
    this.#files.refresh()
    return (await loadEnd(this.#files, this.#paths)).head?.hash ?? null
  }

  /**
   * Loads the entries after a number, in any order, and the number of the newest one. Entries that
   * can't be used are left out.
   *
   * @param number null: no entries
   */
  async loadSince(number: number | null): Promise<{ newest: number; entries: ChainFile[] }> {
    this.#files.refresh()
    const newest = (await loadEnd(this.#files, this.#paths)).head?.number ?? 0
    if (number === null || number >= newest) return { newest, entries: [] }
    const folders = []
    const first = Math.floor((number + 1) / groupSize) * groupSize
    for (let of = first; of <= newest; of += groupSize) folders.push(this.#paths.chainGroup(of))
    const entries = [...(await this.#files.load(...folders))].flatMap(([path, text]) => {
      const checked = path.endsWith('.json') ? checkStored(parseJson(text), chainFile) : null
      return checked !== null && 'value' in checked ? [checked.value] : []
    })
    return { newest, entries: entries.filter((each) => each.number > number) }
  }

  /**
   * Loads all of the history as it is, damaged or not.
   *
   * @param applies whose batches are hashed; null: of all in the journal
   */
  async load(applies: string[] | null = null): Promise<StoredChain> {
    const { home, chainHead, unlocks, journal, prunedFolder, pruned } = this.#paths
    this.#files.refresh()
    const below = (path: string) => path.slice(home.length + 1)
    const loadAll = async (files: SharedFiles) => {
      const paths = (await files.listPaths(home)).filter((path) => chainPath.test(below(path)))
      const groups = new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))))
      const all = [...(await files.load(...groups, chainHead, unlocks, journal, prunedFolder))]
      const entries = all.filter(([path]) => path.startsWith(`${journal}/`))
      const records = new Map(entries.map(([path, text]) => [basename(path, '.json'), text]))
      const intents = new Map<string, string>()
      for (const id of applies ?? records.keys())
        intents.set(
          id,
          hashStored(this.#paths, id, await files.load(`${this.#paths.batches}/${id}`)),
        )
      return { all, journal: records, intents }
    }
    // Another process may begin a folder between the two reads.
    const { all, ...records } = await (this.#files.readAtOnce?.(loadAll) ?? loadAll(this.#files))
    return {
      home,
      texts: new Map(
        all.flatMap(([path, text]) => (chainPath.test(below(path)) ? [[below(path), text]] : [])),
      ),
      head: all.find(([path]) => path === chainHead)?.[1] ?? null,
      pending: all.filter(([path]) => path.startsWith(`${unlocks}/`)).length,
      records: { ...records, pruned: all.find(([path]) => path === pruned)?.[1] ?? null },
    }
  }
}

/** Another process has appended an entry. */
class MovedError extends EdgewiseError {}

async function loadEnd(files: SharedFiles, paths: StatePaths): Promise<ChainEnd> {
  let head: Head | null = null
  const later: [string, HistoryNote][] = []
  for (const [path, text] of await files.load(paths.chainHead, paths.unlocks)) {
    const place = files.describePath(path)
    if (path === paths.chainHead) head = parseFile(place, text, 'head', headFile)
    else later.push([path, parseFile(place, text, 'head', unlockFile)])
  }
  return { head, later: new Map(later.toSorted(([, a], [, b]) => (a.at < b.at ? -1 : 1))) }
}
