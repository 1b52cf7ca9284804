import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { listKeptFields } from '../diff/kept-fields.ts'
import { formatCache, hashText, splitCache, type CacheFile } from '../manifest/cache/cache-file.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import { findVersion } from '../model/known-items.ts'
import type { KnownFile, KnownFiles, StoredItem } from '../state/known-files.ts'

/** Path of a state file, the hash of its text, its domain, and its number of items. */
type StoredRow = [string, string, Domain, number]

/** Rows by the version of the desired items that their files do not differ from. */
type StoredContent = [string, StoredRow[]][]

interface Row extends KnownFile {
  hash: string
}

/** Files are worth a new cache from one in this number. */
const minNewShare = 64

/**
 * State files that do not differ from the manifests, as compared by earlier runs: the same text of
 * a state file and the same desired items are equal again. The rows have hashes and no values.
 * Domains with secrets or unset items, and late items, are compared in each run.
 */
export class KnownStates implements KnownFiles {
  readonly #file: CacheFile
  readonly #key: string
  readonly #desired: Snapshot
  readonly #known: ReadonlyMap<string, Row>
  readonly #found = new Map<string, Row>()
  #added = 0

  /**
   * Loads what earlier runs have stored.
   *
   * @param key identifies the program and the settings that items depend on
   */
  constructor(file: CacheFile, key: string, desired: Snapshot) {
    this.#file = file
    this.#key = key
    this.#desired = desired
    const [content = '[]'] = splitCache(key, file.load() ?? '') ?? []
    this.#known = new Map(
      (JSON.parse(content) as StoredContent).flatMap(([version, rows]) =>
        rows.map(([path, hash, domain, count]) => [path, { hash, domain, count, version }]),
      ),
    )
  }

  find(path: string, text: string): KnownFile | null {
    const row = this.#known.get(path)
    if (row === undefined || findVersion(this.#desired.get(row.domain)) !== row.version) return null
    if (hashText(text) !== row.hash) return null
    this.#found.set(path, row)
    return row
  }

  add(path: string, text: string, domain: Domain, items: Map<ItemKey, StoredItem>): void {
    const desired = this.#desired.get(domain)
    const version = findVersion(desired)
    if (desired === undefined || version === null) return
    if ([...items.values()].some(({ late }) => late !== undefined)) return
    const { changes } = diffSnapshots(new Map([[domain, items]]), new Map([[domain, desired]]))
    // A plan notes the fields that the service keeps, so it needs their values.
    if (changes.length > 0 || listKeptFields(items, desired).length > 0) return
    this.#added++
    this.#found.set(path, { hash: hashText(text), domain, count: items.size, version })
  }

  /** Stores what was found, if enough is new: few are compared faster than all are stored. */
  save(): void {
    if (this.#added * minNewShare <= this.#found.size) return
    const byVersion = new Map<string, StoredRow[]>()
    for (const [path, { hash, domain, count, version }] of this.#found) {
      const rows = byVersion.get(version) ?? []
      byVersion.set(version, rows)
      rows.push([path, hash, domain, count])
    }
    const content: StoredContent = [...byVersion]
    this.#file.save(formatCache(this.#key, [content]))
  }
}
