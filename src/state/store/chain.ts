import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  formatChainEntry,
  formatHead,
  formatUnlock,
  hashEntry,
  parseHead,
  parseUnlock,
  type ChainHead,
  type HistoryNote,
  type Signer,
  type StoredChain,
  type UnlockNote,
} from '../format/chain-entry.ts'
import type { StatePaths } from '../format/state-paths.ts'
import type { FileChanges } from '../folder/write-file.ts'
import type { Guard, SharedFiles, StateFiles } from './state-files.ts'

/** Times that an entry is made again because another process was faster. */
const maxRaces = 20

/** Appends entries to the chained history, in the same change as what they tell of. */
export class Chain {
  readonly #files: StateFiles
  readonly #paths: StatePaths
  /** The newest entry; undefined until it is needed. */
  #head: ChainHead | null | undefined
  /** Entries of the next change. */
  #told: HistoryNote[] = []
  /** Newest entry of this process. */
  newest: ChainHead | null = null
  signer: Signer | null = null

  constructor(files: StateFiles, paths: StatePaths) {
    this.#files = files
    this.#paths = paths
  }

  /** Forgets the newest entry: others may have written while the lock was free. */
  forget(): void {
    this.#head = undefined
    this.#told = []
  }

  /** Adds an entry to the next change. */
  tell(note: HistoryNote): void {
    this.#told.push(note)
  }

  /**
   * Makes a change with its entries. Where others may append at the same time, a guard checks that
   * the newest entry is still the same; else the entries are made again.
   *
   * @param notes told before those of `tell`
   * @param write makes the change, with the files of the entries
   */
  async append(
    notes: HistoryNote[],
    guard: Guard | undefined,
    write: (entries: FileChanges, guard: Guard | undefined) => Promise<void>,
  ): Promise<void> {
    const all = [...notes, ...this.#told]
    this.#told = []
    if (all.length === 0) return write(new Map(), guard)
    // Only stores that read at once have locks of domains.
    const isShared = this.#files.readAtOnce !== undefined
    for (let race = 0; ; race++) {
      if (isShared) this.#head = undefined
      const { entries, before, head } = await this.#build(all)
      const guardHead: Guard = async (files) => {
        await guard?.(files)
        if ((await loadHead(files, this.#paths))?.hash !== before?.hash) throw new MovedChainError()
      }
      try {
        await write(entries, isShared ? guardHead : guard)
        this.#head = head
        this.newest = head
        return
      } catch (error) {
        if (!(error instanceof MovedChainError) || race === maxRaces) throw error
      }
    }
  }

  /** Builds the files of entries, first those of locks that were removed since the last one. */
  async #build(notes: HistoryNote[]) {
    const paths = this.#paths
    const entries = new Map<string, string | null>()
    this.#head ??= await loadHead(this.#files, paths)
    const before = this.#head
    const removed = await loadUnlocks(this.#files, paths)
    let [number, previous] = [before?.number ?? 0, before?.hash ?? null]
    for (const note of [...removed.values(), ...notes]) {
      number++
      const text = formatChainEntry({ home: paths.home, number, previous, ...note })
      entries.set(paths.chainEntry(number), text)
      const signature = (await this.signer?.(text)) ?? null
      if (signature !== null) entries.set(paths.signature(number), `${signature}\n`)
      previous = hashEntry(text)
    }
    const head = { number, hash: previous ?? '' }
    entries.set(paths.chainHead, formatHead(head))
    for (const path of removed.keys()) entries.set(path, null)
    return { entries, before, head }
  }
}

/** Another process has appended an entry. */
class MovedChainError extends EdgewiseError {
  constructor() {
    super(
      'record-moved',
      'other commands have appended to the history at the same time, again and again',
      'Run the same command again.',
    )
  }
}

async function loadHead(files: SharedFiles, paths: StatePaths): Promise<ChainHead | null> {
  const text = (await files.load(paths.headFolder)).get(paths.chainHead)
  return text === undefined ? null : parseHead(files.describePath(paths.chainHead), text)
}

/** Loads what is known of removed locks, by path, first to last. */
async function loadUnlocks(
  files: SharedFiles,
  paths: StatePaths,
): Promise<Map<string, HistoryNote>> {
  const notes = Array.from(await files.load(paths.unlocks), ([path, text]) => {
    return [path, parseUnlock(files.describePath(path), text)] as const
  })
  return new Map(notes.toSorted(([, a], [, b]) => (a.at < b.at ? -1 : 1)))
}

/** Adds that a lock was removed, without the lock: the next entry comes after it. */
export async function addUnlock(
  files: StateFiles,
  paths: StatePaths,
  note: UnlockNote,
): Promise<void> {
  const text = formatUnlock(note)
  const path = paths.unlock(hashEntry(text))
  const message = `Lock of ${note.about} removed`
  files.refresh()
  // Git adds to a branch that is there.
  if ((await files.listTopFolders()).length > 0) await files.add(path, text, message)
  else await files.publish([new Map([[path, text]])], message)
}

/** Loads all of the history as it is, damaged or not. */
export async function loadChain(files: StateFiles, paths: StatePaths): Promise<StoredChain> {
  files.refresh()
  const all = await files.load(paths.chain, paths.headFolder, paths.unlocks)
  const select = (folder: string) =>
    [...all].flatMap(([path, text]) =>
      path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), text] as const] : [],
    )
  return {
    home: paths.home,
    texts: new Map(select(paths.chain)),
    head: all.get(paths.chainHead) ?? null,
    pending: select(paths.unlocks).length,
  }
}
