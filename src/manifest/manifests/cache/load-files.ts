import { isObject } from '../../../core/model/json.ts'
import type { Parallel, Progress } from '../../../core/model/parallel.ts'
import type { Diagnostic } from '../../../core/model/problem.ts'
import type { SecretKeeper } from '../../../core/model/secret.ts'
import type { Layer } from '../../workspace-file/find-origin.ts'
import { loadDocuments } from '../load-documents.ts'
import { loadSource } from '../load-source.ts'
import { parseDocument } from '../parse-document.ts'
import { buildStack, indexProfiles } from '../profiles.ts'
import type { ParsedFile, SourceFile } from '../../yaml/yaml-file.ts'
import {
  type HashStack,
  type LoadedFile,
  type ManifestCache,
  type StoredFile,
  hashText,
} from './manifest-cache.ts'

/** Loaded files, with the function that hashes what is below their manifests. */
export interface Loaded {
  loaded: (LoadedFile | Diagnostic)[]
  hashStack: HashStack
}

/** Threads that load files beside this one, and the progress of loading. */
interface Threads {
  parallel?: Parallel
  progress?: Progress
}

/**
 * Loads files of a workspace. Those whose manifests the cache knows are not parsed.
 *
 * @param root a real path
 * @param cache null for none
 * @param defaults layer below all profiles
 * @param keeper looks secrets of known manifests up
 */
export function loadFiles(
  root: string,
  paths: string[],
  cache: ManifestCache | null,
  defaults: Layer,
  keeper: Pick<SecretKeeper, 'maskTemplate'>,
  { parallel, progress }: Threads,
): Loaded {
  const loaded = Array.from<LoadedFile | Diagnostic>({ length: paths.length })
  /** Parses the files with these indexes. */
  const parse = (indexes: number[], report?: Progress) => {
    const selected = indexes.map((i) => paths[i] ?? '')
    const files = loadDocuments(root, selected, parallel, report)
    files.forEach((file, i) => (loaded[indexes[i] ?? 0] = file))
    return files
  }
  const sources: { index: number; file: SourceFile; stored: StoredFile }[] = []
  const unknown: number[] = []
  const isEmpty = cache === null || cache.isEmpty
  const folders = new Map<string, boolean>()
  paths.forEach((path, index) => {
    const file = isEmpty ? null : loadSource(root, path, folders)
    const stored = file !== null && 'text' in file ? (cache?.find(file) ?? null) : null
    if (file !== null && 'text' in file && stored !== null) sources.push({ index, file, stored })
    else unknown.push(index)
  })
  const parsed = parse(unknown, sources.length === 0 ? progress : undefined)
  const hashStack = createStackHash(parsed, defaults)
  const restore = cache?.createRestore(hashStack, keeper)
  const outdated: number[] = []
  for (const { index, file, stored } of sources) {
    const known = restore?.(file, stored) ?? null
    if (known === null) outdated.push(index)
    else loaded[index] = { file, documents: [], diagnostics: [], known }
  }
  parse(outdated, progress)
  return { loaded, hashStack }
}

/** Creates a function that hashes the profiles of a list, with the defaults below them. */
export function createStackHash(files: (ParsedFile | Diagnostic)[], defaults: Layer): HashStack {
  const profiles = files
    .flatMap((file) => ('documents' in file ? file.documents : []))
    .filter(({ value }) => isObject(value) && Object.hasOwn(value, 'profile'))
    .flatMap((document) => parseDocument(document).declaration ?? [])
    .filter((declaration) => declaration.kind === 'profile')
  const { byName } = indexProfiles(profiles)
  return (named) => {
    const listed = named.map((name, entry) => ({ name, entry }))
    const { layers, vars } = buildStack(listed, byName, defaults)
    const contents = layers.map(({ profile, config }) => [profile?.name ?? null, config])
    return hashText(JSON.stringify([contents, [...vars]]))
  }
}
