import { join } from 'node:path'
import { findVersion } from '../../../files/look.ts'
import { groupBy, getOrAdd } from '../../../core/model/lists.ts'
import type { Diagnostic } from '../../../core/model/problem.ts'
import { findReference, listSecrets, type SecretKeeper } from '../../../core/model/secret.ts'
import type { Layer } from '../../workspace-file/find-origin.ts'
import type { WorkspaceConfig } from '../../workspace-file/workspace.ts'
import {
  parseYaml,
  type ParsedFile,
  type SourceFile,
  type YamlDocument,
} from '../../yaml/yaml-file.ts'
import { isDeclaring } from '../forgotten-files.ts'
import { loadSource } from '../load-source.ts'
import type { KnownManifest } from '../parse-document.ts'
import { createStackHash, type Loaded } from './load-files.ts'
import { listCacheSettings, type HashStack, type LoadedFile } from './manifest-cache.ts'

/** The manifests of a file without a finding, and what they rest on. */
interface Known {
  manifests: KnownManifest[]
  /** Lists of profiles, each with the hash of everything below the manifests that name it. */
  stacks: { profiles: string[]; hash: string }[]
  /** References of the secrets in their items. */
  references: string[]
}

/** A file as it was loaded: `version` of the disk, or the unsaved text. */
interface Kept {
  version: string
  unsaved: string | undefined
  loaded: ParsedFile | Diagnostic
  known: Known | null
}

/**
 * The files of a workspace as a long-running program last loaded them, with texts that an editor
 * has not saved yet. Only what has changed is parsed again. It has the laws of `ManifestCache`, in
 * memory.
 */
export class FileMemory {
  /** Unsaved texts by path; they replace those of the disk. */
  readonly unsaved = new Map<string, string>()
  readonly #kept = new Map<string, Kept>()
  #settings = ''

  /** Lists the unsaved texts as files. */
  listUnsaved(): SourceFile[] {
    return [...this.unsaved].map(([path, text]) => ({ path, text }))
  }

  /** Lists the valid documents of all files, as they were last loaded. */
  listDocuments(): (YamlDocument | KnownManifest)[] {
    return [...this.#kept.values()].flatMap(({ loaded, known }) => {
      const parsed = 'severity' in loaded ? [] : loaded.documents
      return [...parsed, ...(known?.manifests ?? [])]
    })
  }

  /** Adds the paths of manifests and profiles that are not on the disk yet. */
  addPaths(paths: string[], config: WorkspaceConfig): string[] {
    const found = new Set(paths)
    const others = [...this.unsaved.keys()].filter(
      (path) => !found.has(path) && isDeclaring(path, config),
    )
    return others.length === 0 ? paths : [...paths, ...others].toSorted()
  }

  /**
   * Loads files as `loadFiles` does.
   *
   * @param root a real path
   */
  load(
    root: string,
    paths: string[],
    config: WorkspaceConfig,
    defaults: Layer,
    keeper: Pick<SecretKeeper, 'maskTemplate'>,
  ): Loaded {
    const settings = JSON.stringify(listCacheSettings(config))
    if (settings !== this.#settings) this.#kept.clear()
    this.#settings = settings
    const wanted = new Set(paths)
    for (const path of this.#kept.keys()) if (!wanted.has(path)) this.#kept.delete(path)
    const kept = paths.map((path) => this.#loadFile(root, path))
    const hashStack = createStackHash(
      kept.map(({ loaded }) => loaded),
      defaults,
    )
    const hashes = new Map<string, string>()
    const isCurrent = ({ profiles, hash }: Known['stacks'][number]) => {
      return getOrAdd(hashes, JSON.stringify(profiles), () => hashStack(profiles)) === hash
    }
    const loaded = kept.map((each) => {
      if (each.known !== null && each.known.stacks.every(isCurrent))
        return restore(each.loaded, each.known, keeper)
      return each.known === null ? each.loaded : parseAgain(each)
    })
    return { loaded, hashStack }
  }

  #loadFile(root: string, path: string): Kept {
    const unsaved = this.unsaved.get(path)
    const version = unsaved === undefined ? findVersion(join(root, path)) : ''
    const last = this.#kept.get(path)
    if (last !== undefined && last.version === version && last.unsaved === unsaved) return last
    const file = unsaved === undefined ? loadSource(root, path) : { path, text: unsaved }
    const loaded = 'text' in file ? parseYaml(file) : file
    const kept = { version, unsaved, loaded, known: null }
    this.#kept.set(path, kept)
    return kept
  }

  /** Keeps the manifests of the files that have only manifests without a finding, unparsed. */
  save(files: LoadedFile[], clean: KnownManifest[], hashStack: HashStack): void {
    const byFile = groupBy(clean, ({ document }) => document.file)
    for (const { file, documents, known = [], diagnostics } of files) {
      const kept = this.#kept.get(file.path)
      if (kept === undefined || known.length > 0) continue
      const manifests = byFile.get(file) ?? []
      const isClean = manifests.length === documents.length && diagnostics.length === 0
      const references = isClean && manifests.length > 0 ? listReferences(manifests) : null
      if (references === null) continue
      const lists = manifests.map(({ profiles }) => profiles.map(({ name }) => name))
      const stacks = lists.map((profiles) => ({ profiles, hash: hashStack(profiles) }))
      kept.known = { manifests, stacks, references }
      kept.loaded = { file, documents: [], diagnostics: [] }
    }
  }
}

function restore(
  loaded: ParsedFile | Diagnostic,
  { manifests, references }: Known,
  keeper: Pick<SecretKeeper, 'maskTemplate'>,
): LoadedFile | Diagnostic {
  if ('severity' in loaded) return loaded
  for (const reference of references) keeper.maskTemplate(reference)
  // An assembly may empty their lists of profiles.
  return { ...loaded, known: manifests.map((manifest) => ({ ...manifest })) }
}

function parseAgain(kept: Kept): ParsedFile | Diagnostic {
  kept.known = null
  if (!('severity' in kept.loaded)) kept.loaded = parseYaml(kept.loaded.file)
  return kept.loaded
}

/** Lists the references of the secrets of manifests; null if one has a literal secret. */
function listReferences(manifests: KnownManifest[]): string[] | null {
  const states = manifests.flatMap(({ domains }) =>
    domains.flatMap(({ items }) => [...items.values()]),
  )
  const secrets = states.flatMap(({ candidates }) => [...listSecrets(candidates)])
  const references = secrets.map(findReference).filter((reference) => reference !== null)
  return references.length === secrets.length ? references : null
}
