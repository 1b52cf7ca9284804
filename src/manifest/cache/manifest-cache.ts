import type { ItemKey, ItemState } from '../../model/item.ts'
import { groupBy } from '../../model/group-by.ts'
import { KnownItems } from '../../model/known-items.ts'
import type { SecretKeeper } from '../../model/secret-keeper.ts'
import type { KnownManifest } from '../parse-document.ts'
import type { WorkspaceConfig } from '../workspace.ts'
import type { ParsedFile, SourceFile } from '../yaml-file.ts'
import {
  buildManifestKey,
  formatCache,
  hashText,
  splitCache,
  type CacheContent,
  type CachedManifest,
  type CacheFile,
  type StoredItems,
} from './cache-file.ts'
import { TableWriter, type HashStack } from './table-writer.ts'

/** Files are worth a new cache from one in this number. */
const minNewShare = 64

/** What is stored of a file. */
export interface StoredFile {
  /** Hash of its text. */
  hash: string
  manifests: CachedManifest[]
}

/** A loaded file: parsed, or with the manifests that the cache has of it. */
export interface LoadedFile extends ParsedFile {
  known?: KnownManifest[]
}

/**
 * Manifests without a finding, as assembled by an earlier run: the same text over the same profiles
 * and settings gives the same items. All others are parsed in each run, which finds their problems.
 */
export class ManifestCache {
  readonly #file: CacheFile
  readonly #key: string
  readonly #content: CacheContent
  readonly #loadItems: () => StoredItems
  readonly #manifests: ReadonlyMap<string, CachedManifest[]>
  readonly #unset: ReadonlySet<number>
  /** References of the secrets in an item, by its index. */
  readonly #references: ReadonlyMap<number, string[]>

  /**
   * Loads what earlier runs have stored.
   *
   * @param program identifies the program: another one may assemble other items
   */
  constructor(file: CacheFile, program: string, config: WorkspaceConfig) {
    this.#file = file
    this.#key = buildManifestKey(program, config)
    const [content, items] = splitCache(this.#key, file.load() ?? '') ?? []
    this.#content =
      content === undefined
        ? { references: [], unset: [], stacks: [], files: [] }
        : (JSON.parse(content) as CacheContent)
    let parsed: StoredItems | null = null
    this.#loadItems = () => (parsed ??= JSON.parse(items ?? '[]') as StoredItems)
    this.#manifests = new Map(this.#content.files)
    this.#unset = new Set(this.#content.unset)
    this.#references = new Map(this.#content.references)
  }

  /** True if nothing is known. */
  get isEmpty(): boolean {
    return this.#manifests.size === 0
  }

  /** Finds what is stored of a file; its profiles may have changed since. */
  find({ text }: SourceFile): StoredFile | null {
    const hash = hashText(text)
    const manifests = this.#manifests.get(hash)
    return manifests === undefined ? null : { hash, manifests }
  }

  /**
   * Returns a function that restores the manifests of a file; null if its profiles have changed.
   *
   * @param keeper looks the secrets of the items up, as assembling them does
   */
  createRestore(
    hashStack: HashStack,
    keeper: Pick<SecretKeeper, 'maskTemplate'>,
  ): (file: SourceFile, stored: StoredFile) => KnownManifest[] | null {
    const { stacks } = this.#content
    const isCurrent = stacks.map((stack) => hashStack(stack.profiles) === stack.hash)
    const named = stacks.map(({ profiles }) => profiles.map((name, entry) => ({ name, entry })))
    const looked = new Set<string>()
    const find = (i: number) => this.#loadItems()[i] as [ItemKey, ItemState]
    const lookUp = (i: number) => {
      for (const reference of this.#references.get(i) ?? [])
        if (!looked.has(reference)) {
          looked.add(reference)
          keeper.maskTemplate(reference)
        }
    }
    const isSpecial = (i: number) => this.#references.has(i) || this.#unset.has(i)
    const hasSpecial = this.#references.size + this.#unset.size > 0
    const restore = (indexes: number[], version: string): Map<ItemKey, ItemState> => {
      if (!hasSpecial || !indexes.some(isSpecial))
        return new KnownItems(version, indexes.length, () => indexes.map(find))
      indexes.forEach(lookUp)
      return new Map(indexes.map(find))
    }
    return (file, { hash, manifests }) => {
      if (!manifests.every(([, stack]) => isCurrent[stack])) return null
      return manifests.map(([index, stack, isList, domains]) => ({
        kind: 'known',
        document: { file, index },
        profiles: named[stack] ?? [],
        domains: domains.map(([domain, indexes], i) => ({
          domain,
          pointer: isList ? `/domains/${i}` : '/domain',
          items: restore(indexes, `${hash} ${stacks[stack]?.hash}`),
        })),
      }))
    }
  }

  /**
   * Stores the manifests of the files that have only manifests without a finding, if enough are
   * new: few are parsed faster than all are stored. Values of secrets are not stored: neither is a
   * file with a literal one.
   */
  save(files: LoadedFile[], clean: KnownManifest[], hashStack: HashStack): void {
    const byFile = groupBy(clean, ({ document }) => document.file)
    const whole = files.filter(({ file, documents, known = [], diagnostics }) => {
      const count = byFile.get(file)?.length ?? 0
      const isClean = count === documents.length + known.length && diagnostics.length === 0
      return isClean && count > 0
    })
    const unchanged = whole.filter(({ known }) => known !== undefined).length
    const isWorthIt = (count: number) => (count - unchanged) * minNewShare > count
    if (!isWorthIt(whole.length)) return
    const tables = new TableWriter(hashStack)
    const stored = whole.flatMap(({ file }): CacheContent['files'] => {
      const manifests = tables.addManifests(byFile.get(file) ?? [])
      return manifests === null ? [] : [[hashText(file.text), manifests]]
    })
    if (isWorthIt(stored.length))
      this.#file.save(formatCache(this.#key, [{ ...tables.content, files: stored }, tables.items]))
  }
}
