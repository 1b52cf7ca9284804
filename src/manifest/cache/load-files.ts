import { isObject } from '../../model/json.ts'
import type { Parallel, Progress } from '../../model/parallel.ts'
import type { Diagnostic } from '../../model/problem.ts'
import type { SecretKeeper } from '../../model/secret-keeper.ts'
import type { Layer } from '../find-origin.ts'
import { loadDocuments } from '../load-documents.ts'
import { loadSource } from '../load-source.ts'
import { parseDocument } from '../parse-document.ts'
import { buildStack, indexProfiles } from '../profiles.ts'
import type { ParsedFile, SourceFile } from '../yaml-file.ts'
import { hashText, type CachedManifest } from './cache-file.ts'
import type { LoadedFile, ManifestCache } from './manifest-cache.ts'
import type { HashStack } from './table-writer.ts'

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
): { loaded: (LoadedFile | Diagnostic)[]; hashStack: HashStack } {
  const parsed = new Map<string, ParsedFile | Diagnostic>()
  const parse = (selected: string[], report?: Progress) => {
    loadDocuments(root, selected, parallel, report).forEach((file, i) =>
      parsed.set(selected[i] ?? '', file),
    )
  }
  const sources = new Map<string, { file: SourceFile; stored: CachedManifest[] }>()
  if (cache !== null && !cache.isEmpty)
    for (const path of paths) {
      const file = loadSource(root, path)
      const stored = 'text' in file ? cache.find(file) : undefined
      if ('text' in file && stored !== undefined) sources.set(path, { file, stored })
    }
  parse(
    paths.filter((path) => !sources.has(path)),
    sources.size === 0 ? progress : undefined,
  )
  const hashStack = createStackHash([...parsed.values()], defaults)
  const restore = cache?.createRestore(hashStack, keeper)
  const restored = new Map<string, LoadedFile>()
  for (const [path, { file, stored }] of sources) {
    const known = restore?.(file, stored) ?? null
    if (known !== null) restored.set(path, { file, documents: [], diagnostics: [], known })
  }
  parse(
    [...sources.keys()].filter((path) => !restored.has(path)),
    progress,
  )
  const loaded = paths.flatMap((path) => restored.get(path) ?? parsed.get(path) ?? [])
  return { loaded, hashStack }
}

/** Creates a function that hashes the profiles of a list, with the defaults below them. */
function createStackHash(files: (ParsedFile | Diagnostic)[], defaults: Layer): HashStack {
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
