import { groupBy, getOrAdd } from '../../../core/model/lists.ts'
import type { Domain, ItemKey, ItemState } from '../../../core/model/item.ts'
import { type SecretKeeper, findReference, listSecrets } from '../../../core/model/secret.ts'
import type { KnownManifest } from '../parse-document.ts'
import type { WorkspaceConfig } from '../../workspace-file/workspace.ts'
import type { ParsedFile, SourceFile } from '../../yaml/yaml-file.ts'
import { hash } from 'node:crypto'

/** Files are worth a new cache from one in this number. */
const minNewShare = 64

/** Manifests without a finding, as stored. Items and stacks are indexes of their lists. */
interface CacheContent {
  items: [ItemKey, ItemState][]
  /** Indexes of the items with secrets, with the references of these. */
  references: [number, string[]][]
  /** Lists of profiles, each with the hash of everything below the manifests that name it. */
  stacks: { profiles: string[]; hash: string }[]
  /** Manifests of files, each with the hash of the file's text. */
  files: [string, CachedManifest[]][]
}

/**
 * One manifest: the index of its document in the file, its stack, whether it has `domains` instead
 * of `domain`, its domains with their items, and its owners.
 */
type CachedManifest = [number, number, boolean, [Domain, number[]][], string[]]

/** The stored part of a file: its manifests. */
export type StoredFile = CachedManifest[]

/** Lists the settings that the items of a manifest depend on. */
export function listCacheSettings({ secrets, allowLiteralSecrets, service }: WorkspaceConfig) {
  return [Object.keys(secrets), allowLiteralSecrets, service.itemKeys, service.unset]
}

/** A loaded file: parsed, or with the manifests that the cache has of it. */
export interface LoadedFile extends ParsedFile {
  known?: KnownManifest[]
}

/** Hashes everything below the manifests that name these profiles. */
export type HashStack = (profiles: string[]) => string

/**
 * Manifests without a finding, as assembled by an earlier run: the same text over the same profiles
 * and settings gives the same items. All others are parsed in each run, which finds their problems.
 */
export class ManifestCache {
  readonly #file: CacheFile
  readonly #key: string
  readonly #content: CacheContent
  readonly #manifests: ReadonlyMap<string, CachedManifest[]>

  /**
   * Loads what earlier runs have stored.
   *
   * @param program identifies the program: another one may assemble other items
   */
  constructor(file: CacheFile, program: string, config: WorkspaceConfig) {
    this.#file = file
    this.#key = hashText(JSON.stringify([program, listCacheSettings(config)]))
    const [content] = splitCache(this.#key, file.load() ?? '') ?? []
    this.#content =
      content === undefined
        ? { items: [], references: [], stacks: [], files: [] }
        : (JSON.parse(content) as CacheContent)
    this.#manifests = new Map(this.#content.files)
  }

  /** True if nothing is known. */
  get isEmpty(): boolean {
    return this.#manifests.size === 0
  }

  /** Finds what is stored of a file; its profiles may have changed since. */
  find({ text }: SourceFile): StoredFile | null {
    return this.#manifests.get(hashText(text)) ?? null
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
    const { items, stacks } = this.#content
    const isCurrent = stacks.map((stack) => hashStack(stack.profiles) === stack.hash)
    const named = stacks.map(({ profiles }) => profiles.map((name, entry) => ({ name, entry })))
    const references = new Map(this.#content.references)
    const looked = new Set<string>()
    const restoreItem = (index: number): [ItemKey, ItemState] => {
      for (const reference of references.get(index) ?? []) {
        if (!looked.has(reference)) keeper.maskTemplate(reference)
        looked.add(reference)
      }
      return items[index] as [ItemKey, ItemState]
    }
    return (file, manifests) => {
      if (!manifests.every(([, stack]) => isCurrent[stack])) return null
      return manifests.map(([index, stack, isList, domains, owners]) => ({
        kind: 'known',
        document: { file, index },
        profiles: named[stack] ?? [],
        owners,
        domains: domains.map(([domain, indexes], i) => ({
          domain,
          pointer: isList ? `/domains/${i}` : '/domain',
          items: new Map(indexes.map(restoreItem)),
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
    const tables = new Tables(hashStack)
    const whole = files.filter(({ file, documents, known, diagnostics }) => {
      const manifests = byFile.get(file) ?? []
      const count = documents.length + (known?.length ?? 0)
      const isClean = manifests.length === count && count > 0 && diagnostics.length === 0
      // What the cache knows has been tested before it was stored.
      return isClean && (known !== undefined || !tables.holdLiteral(manifests))
    })
    const unchanged = whole.filter(({ known }) => known !== undefined).length
    if ((whole.length - unchanged) * minNewShare <= whole.length) return
    const stored = whole.map(({ file }): CacheContent['files'][number] => [
      hashText(file.text),
      (byFile.get(file) ?? []).map((manifest) => tables.add(manifest)),
    ])
    this.#file.save(formatCache(this.#key, [{ ...tables.content, files: stored }]))
  }
}

/** Collects items and stacks of profiles, each once. */
class Tables {
  readonly content: Omit<CacheContent, 'files'> = { items: [], references: [], stacks: [] }
  readonly #hashStack: HashStack
  /** By identity: domains with the same profiles share states. */
  readonly #indexes = new Map<ItemState, number>()
  /** References of the secrets in a state; null for a literal secret. */
  readonly #references = new Map<ItemState, (string | null)[]>()
  readonly #stacks = new Map<string, number>()

  constructor(hashStack: HashStack) {
    this.#hashStack = hashStack
  }

  /** Tests whether an item of these manifests has a literal secret. */
  holdLiteral(manifests: KnownManifest[]): boolean {
    return manifests.some(({ domains }) =>
      domains.some(({ items }) =>
        [...items.values()].some((state) => this.#listReferences(state).includes(null)),
      ),
    )
  }

  add({ document, profiles, owners, domains }: KnownManifest): CachedManifest {
    return [
      document.index,
      this.#addStack(profiles.map(({ name }) => name)),
      domains[0]?.pointer !== '/domain',
      domains.map(({ domain, items }) => [
        domain,
        Array.from(items, ([item, state]) => this.#addItem(item, state)),
      ]),
      owners,
    ]
  }

  #addStack(profiles: string[]): number {
    const add = () => this.content.stacks.push({ profiles, hash: this.#hashStack(profiles) }) - 1
    return getOrAdd(this.#stacks, JSON.stringify(profiles), add)
  }

  #addItem(item: ItemKey, state: ItemState): number {
    const known = this.#indexes.get(state)
    if (known !== undefined) return known
    const index = this.content.items.push([item, state]) - 1
    this.#indexes.set(state, index)
    const references = this.#listReferences(state).filter((reference) => reference !== null)
    if (references.length > 0) this.content.references.push([index, references])
    return index
  }

  #listReferences(state: ItemState): (string | null)[] {
    const list = () => Array.from(listSecrets(state.candidates), findReference)
    return getOrAdd(this.#references, state, list)
  }
}

/** File in the cache of the user that belongs to one workspace. */
export interface CacheFile {
  /** Loads the text; null if there is none that can be trusted. */
  load(): string | null
  /** Replaces the text; does nothing where that fails. */
  save(text: string): void
}

const format = 'edgewise.cache/1'

/**
 * Formats a file: a line with format, key and hash of the parts, and a line for each part.
 *
 * @param key identifies the program and the settings that the parts depend on
 */
export function formatCache(key: string, parts: unknown[]): string {
  const body = parts.map((part) => JSON.stringify(part)).join('\n')
  return `${format} ${key} ${hashText(body)}\n${body}\n`
}

/**
 * Splits a file into its parts, which are not parsed yet; null if it is damaged, or of another
 * format or key. The hash proves that `formatCache` wrote them.
 */
export function splitCache(key: string, text: string): string[] | null {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1, -1)
  return text.slice(0, end) === `${format} ${key} ${hashText(body)}` ? body.split('\n') : null
}

/** Hashes a text of a file, a key or a content. */
export function hashText(text: string): string {
  return hash('sha256', text, 'base64')
}
