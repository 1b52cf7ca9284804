import type { ItemKey, ItemState } from '../../model/item.ts'
import { groupBy } from '../../model/group-by.ts'
import type { SecretKeeper } from '../../model/secret-keeper.ts'
import type { KnownManifest } from '../parse-document.ts'
import type { WorkspaceConfig } from '../workspace.ts'
import type { ParsedFile, SourceFile } from '../yaml-file.ts'
import {
  formatCache,
  hashText,
  parseCache,
  type CacheContent,
  type CachedManifest,
  type CacheFile,
} from './cache-file.ts'
import { TableWriter, type HashStack } from './table-writer.ts'

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
  readonly #manifests: ReadonlyMap<string, CachedManifest[]>
  /** References of the secrets in an item, by its index. */
  readonly #references: ReadonlyMap<number, string[]>

  /**
   * Loads what earlier runs have stored.
   *
   * @param program identifies the program: another one may assemble other items
   */
  constructor(
    file: CacheFile,
    program: string,
    { secrets, allowLiteralSecrets, service }: WorkspaceConfig,
  ) {
    this.#file = file
    const settings = [Object.keys(secrets), allowLiteralSecrets, service.itemKeys]
    this.#key = hashText(JSON.stringify([program, settings]))
    const text = file.load()
    const content = text === null ? null : parseCache(this.#key, text)
    this.#content = content ?? { items: [], references: [], stacks: [], files: [] }
    this.#manifests = new Map(this.#content.files)
    this.#references = new Map(this.#content.references)
  }

  /** True if nothing is known. */
  get isEmpty(): boolean {
    return this.#manifests.size === 0
  }

  /** Finds what is stored of a file; its profiles may have changed since. */
  find({ text }: SourceFile): CachedManifest[] | undefined {
    return this.#manifests.get(hashText(text))
  }

  /**
   * Returns a function that restores the manifests of a file; null if its profiles have changed.
   *
   * @param keeper looks the secrets of the items up, as assembling them does
   */
  createRestore(
    hashStack: HashStack,
    keeper: Pick<SecretKeeper, 'maskTemplate'>,
  ): (file: SourceFile, stored: CachedManifest[]) => KnownManifest[] | null {
    const { items, stacks } = this.#content
    const isCurrent = stacks.map((stack) => hashStack(stack.profiles) === stack.hash)
    const named = stacks.map(({ profiles }) => profiles.map((name, entry) => ({ name, entry })))
    const looked = new Set<string>()
    const find = (i: number): [ItemKey, ItemState] => {
      for (const reference of this.#references.get(i) ?? [])
        if (!looked.has(reference)) {
          looked.add(reference)
          keeper.maskTemplate(reference)
        }
      return items[i] as [ItemKey, ItemState]
    }
    return (file, stored) => {
      if (!stored.every(([, stack]) => isCurrent[stack])) return null
      return stored.map(([index, stack, isList, domains]) => ({
        kind: 'known',
        document: { file, index },
        profiles: named[stack] ?? [],
        domains: domains.map(([domain, indexes], i) => ({
          domain,
          pointer: isList ? `/domains/${i}` : '/domain',
          items: new Map(indexes.map(find)),
        })),
      }))
    }
  }

  /**
   * Stores the manifests of the files that have only manifests without a finding, if there are new
   * ones. Values of secrets are not stored: neither is a file with a literal one.
   */
  save(files: LoadedFile[], clean: KnownManifest[], hashStack: HashStack): void {
    const byFile = groupBy(clean, ({ document }) => document.file)
    const whole = files.filter(({ file, documents, known = [], diagnostics }) => {
      const count = byFile.get(file)?.length ?? 0
      const isClean = count === documents.length + known.length && diagnostics.length === 0
      return isClean && count > 0
    })
    const unchanged = whole.filter(({ known }) => known !== undefined).length
    if (unchanged === whole.length) return
    const tables = new TableWriter(hashStack)
    const stored = whole.flatMap(({ file }): CacheContent['files'] => {
      const manifests = tables.addManifests(byFile.get(file) ?? [])
      return manifests === null ? [] : [[hashText(file.text), manifests]]
    })
    if (stored.length > unchanged)
      this.#file.save(formatCache(this.#key, { ...tables.content, files: stored }))
  }
}
