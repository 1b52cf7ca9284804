import { join } from 'node:path'
import { exists, findRealPath } from '../../files/look.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatPointerStep } from '../../core/model/json.ts'
import { limitProblems, formatPlace, type Diagnostic } from '../../core/model/problem.ts'
import { ignoreProgress, type Parallel, type Progress } from '../../core/model/parallel.ts'
import type { SecretKeeper } from '../../core/model/secret.ts'
import { type Levels } from '../../core/checks/levels.ts'
import { judge } from '../../core/checks/suppressions.ts'
import { assemble } from './assemble.ts'
import { loadFiles } from './cache/load-files.ts'
import type { FileMemory } from './cache/file-memory.ts'
import { ManifestCache, type LoadedFile, type CacheFile } from './cache/manifest-cache.ts'
import { checkSecretValues, createSecretFinding } from '../workspace-file/credential-places.ts'
import type { KnownManifest } from './parse-document.ts'
import { createDiagnostic, createFileDiagnostic, type Finding } from './finding.ts'
import { findFiles } from './find-files.ts'
import type { Layer } from '../workspace-file/find-origin.ts'
import { workspaceFile } from '../workspace-file/find-root.ts'
import { findExcessiveGlobs, findUnmatchedGlobs } from '../workspace-file/glob-rules.ts'
import { findForgottenFiles, omitMatching } from './forgotten-files.ts'
import { createFile } from './list-files.ts'
import { loadSource } from './load-source.ts'
import { findMovedProblems } from '../workspace-file/moved-domains.ts'
import { explainMissing, explainTokenFault } from '../workspace-file/workspace-env.ts'
import { loadSecretsWithoutCommand } from '../secrets/secret-sources.ts'
import { listMarkedComments } from '../yaml/marked-comments.ts'
import { createSourceLineLookup } from '../yaml/source-line.ts'
import { parseWorkspaceConfig } from '../workspace-file/workspace-config.ts'
import { explainWeakness } from '../secrets/weak-secret.ts'
import type { Workspace, WorkspaceConfig } from '../workspace-file/workspace.ts'
import { parseYaml, type SourceFile, type YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'

/** Aids for loading many manifests: other threads and a cache. */
export interface LoadingAids {
  parallel?: Parallel
  /** Gets the number of files listed so far. */
  onListed?: (files: number) => void
  /** Gets the number of loaded files of a large fleet. */
  progress?: Progress
  /** Gets the number of checked manifests. */
  checked?: Progress
  /** Opens the manifests that an earlier run of a program assembled; null without any. */
  openCache?: () => { file: CacheFile; program: string } | null
  /** Files as an earlier call loaded them, with unsaved texts; absent: the disk has all. */
  memory?: FileMemory
  /** Levels of options, which win over those of the workspace file. */
  levels?: Levels
  /** Time, ms, after which comments that allow findings expire; absent: they never do. */
  now?: number
}

/** Minimum number of files that are worth a cache. */
const minCachedFiles = 100

/**
 * Loads a workspace: its file, its manifests and its profiles. Problems of manifests and profiles
 * become its diagnostics.
 *
 * @param keeperFor creates the keeper of secrets, which can format a place in the workspace file
 * @param added manifests, profiles and a workspace file that are not written yet; each replaces a
 *   file of its path
 * @throws EdgewiseError `not-a-workspace` without an `edgewise.yaml`, `invalid` with diagnostics if
 * that file is invalid
 */
export function loadWorkspace(
  root: string,
  env: Record<string, string | undefined>,
  keeperFor: (config: WorkspaceConfig, locate: (pointer: string) => string) => SecretKeeper,
  added: SourceFile[] = [],
  aids: LoadingAids = {},
): Workspace {
  const found = findWorkspaceFiles(root, env, added, aids)
  const { config, home, document, paths } = found
  const keeper = keeperFor(config, (pointer) => formatPlace(findPlace(document, pointer)))
  const { loaded, keep } = loadKept(found, keeper, added.length === 0, aids)
  const [stored, unreadable] = splitLoaded(loaded)
  const files: LoadedFile[] = [
    ...stored,
    ...added.filter(({ path }) => path !== workspaceFile).map(parseYaml),
  ].toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1))
  const documents = files.flatMap((yaml) => [...yaml.documents, ...(yaml.known ?? [])])
  const names = [home.path, ...paths, ...added.map(({ path }) => path)]
  const assembled = assemble(config, document, documents, keeper, names, aids.checked)
  const { clean, diagnostics, ...declared } = assembled
  keep(files, clean)
  // Parsing the manifests has resolved the secrets they refer to.
  refuseFindings(
    document,
    config.texts.filter((text) => keeper.occursIn(text)).map(createSecretFinding),
  )
  let noManifest: Diagnostic | undefined
  const levels = { ...config.checks, ...aids.levels }
  const judgeAll = createJudge(levels, { ...found, files }, aids.now, [
    ...found.diagnostics,
    ...unreadable,
    ...files.flatMap(listFileProblems),
    ...diagnostics,
    ...findMovedProblems(config.moved, document, declared.desired),
    ...findExcessiveGlobs(config, document, declared.desired.size),
  ])
  return {
    ...declared,
    root,
    config,
    diagnostics: judgeAll([], false).diagnostics,
    levels,
    judgeAll,
    files: [...declared.files, ...found.policyFiles.map(createFile)],
    policyFiles: found.policyFiles,
    findNoManifest: () => (noManifest ??= createNoManifestDiagnostic(config, document)),
    findSource: (path) => files.find(({ file }) => file.path === path)?.file.text ?? null,
    findSourceLine: createSourceLineLookup(() => listSources(found, files)),
    explainMissing: (pointer) => explainMissing(document, env, pointer),
    explainTokenFault: () => explainTokenFault(document, env, config.service.token),
    findUnmatchedGlobs: () => findUnmatchedGlobs(config, document, declared.desired.keys()),
    findWeakSecrets: () =>
      [...loadSecretsWithoutCommand(root, config.secrets, env)].flatMap(([name, value]) =>
        createWeakDiagnostic(document, name, value),
      ),
  }
}

/**
 * Loads the files of a workspace by the memory, or by the cache if it is worth one.
 *
 * @returns also a function that keeps the manifests without a finding for the next load
 */
function loadKept(
  { config, document, folder, paths }: FoundWorkspace,
  keeper: SecretKeeper,
  isPlain: boolean,
  aids: LoadingAids,
): {
  loaded: (LoadedFile | Diagnostic)[]
  keep: (files: LoadedFile[], clean: KnownManifest[]) => void
} {
  const defaults: Layer = { config: config.defaults, document, base: '/defaults' }
  const { memory } = aids
  if (memory !== undefined) {
    const { loaded, hashStack } = memory.load(folder, paths, config, defaults, keeper)
    return { loaded, keep: (files, clean) => memory.save(files, clean, hashStack) }
  }
  const isCached = paths.length >= minCachedFiles && isPlain
  const cache = isCached ? openCache(config, aids) : null
  const { loaded, hashStack } = loadFiles(folder, paths, cache, defaults, keeper, aids)
  return { loaded, keep: (files, clean) => cache?.save(files, clean, hashStack) }
}

/** Creates the function that judges the findings of a workspace, together with further ones. */
function createJudge(
  ownLevels: Levels,
  { files, folder, policyFiles }: FoundWorkspace & { files: LoadedFile[] },
  now = -Infinity,
  found: Diagnostic[] = [],
): Workspace['judgeAll'] {
  const comments = files.flatMap(({ file }) => listMarkedComments(file))
  return (others, isComplete, levels = ownLevels) => {
    // Only a complete list has what is wrong in files of policies.
    const [policies] = splitLoaded(
      isComplete ? policyFiles.map((path) => loadSource(folder, path)) : [],
    )
    const all = [...comments, ...policies.flatMap(listMarkedComments)]
    const judged = judge([...found, ...others], { levels, comments: all, now, isComplete })
    return { ...judged, diagnostics: limitProblems(judged.diagnostics) }
  }
}

/** Lists all files of a workspace that can be loaded. */
function listSources(
  { folder, home, policyFiles }: FoundWorkspace,
  files: LoadedFile[],
): SourceFile[] {
  const [policies] = splitLoaded(policyFiles.map((path) => loadSource(folder, path)))
  return [home, ...files.map(({ file }) => file), ...policies]
}

function openCache(config: WorkspaceConfig, aids: LoadingAids): ManifestCache | null {
  const opened = aids.openCache?.() ?? null
  return opened === null ? null : new ManifestCache(opened.file, opened.program, config)
}

/** Lists the problems of a file as a whole. */
function listFileProblems({ file, documents, known = [], diagnostics }: LoadedFile): Diagnostic[] {
  const isEmpty = documents.length + diagnostics.length + known.length === 0
  return isEmpty ? [createEmptied(file)] : diagnostics
}

/**
 * Creates the diagnostic of a file without a document. It was emptied by mistake, as a rule: to
 * release its domains, it is deleted.
 */
function createEmptied({ path }: SourceFile): Diagnostic {
  return createFileDiagnostic(path, {
    code: 'file-invalid',
    summary: 'This file is empty',
    detail: 'there is no manifest or profile in this file. Restore its content, or delete it.',
  })
}

/** Creates the diagnostic of a workspace whose globs find no manifest. */
function createNoManifestDiagnostic(
  { manifests }: WorkspaceConfig,
  document: YamlDocument,
): Diagnostic {
  return createDiagnostic(document, {
    code: 'workspace-invalid',
    pointer: '/manifests',
    summary: 'No manifest',
    detail: `no file that matches ${manifests.join(', ')} declares a domain`,
  })
}

/** Creates the diagnostic about a secret that is easy to guess; none for others. */
function createWeakDiagnostic(document: YamlDocument, name: string, value: string): Diagnostic[] {
  const reason = value === '' ? null : explainWeakness(value)
  if (reason === null) return []
  return [
    createDiagnostic(document, {
      code: 'secret-weak',
      severity: 'warning',
      pointer: `/secrets${formatPointerStep(name)}`,
      part: 'key',
      summary: 'Secret is easy to guess',
      detail:
        `the secret "${name}" can be guessed from its fingerprint in the state: ${reason}. ` +
        'Use a long random value.',
    }),
  ]
}

/**
 * Loads the files of a workspace (`edgewise.yaml`, manifests, profiles, policies and tests), with
 * diagnostics for those that can't be loaded.
 *
 * @throws EdgewiseError as `loadWorkspace` does
 */
export function loadWorkspaceFiles(
  root: string,
  env: Record<string, string | undefined>,
  aids: Pick<LoadingAids, 'progress' | 'onListed'> = {},
): { files: SourceFile[]; diagnostics: Diagnostic[]; config: WorkspaceConfig } {
  const { progress = ignoreProgress, onListed } = aids
  const found = findWorkspaceFiles(root, env, [], { onListed })
  const { config, folder, home } = found
  const tests = findFiles(folder, config, ['tests'])
  const all = [...found.paths, ...found.policyFiles, ...tests.paths]
  const paths = [...new Set(all)].toSorted()
  const [files, unreadable] = splitLoaded(
    paths.map((path, i) => {
      progress(i, paths.length)
      return loadSource(folder, path)
    }),
  )
  const diagnostics = [...found.diagnostics, ...tests.diagnostics, ...unreadable]
  return { files: [home, ...files], diagnostics, config }
}

interface FoundWorkspace {
  config: WorkspaceConfig
  /** Real path of the workspace's folder. */
  folder: string
  home: SourceFile
  document: YamlDocument
  /** Paths of the manifests and profiles, also of those that can't be loaded. */
  paths: string[]
  /** Paths of the files with policies, which are no manifests. */
  policyFiles: string[]
  diagnostics: Diagnostic[]
}

/** Loads the workspace file, and finds the manifests and profiles. */
function findWorkspaceFiles(
  root: string,
  env: Record<string, string | undefined>,
  added: SourceFile[],
  { memory, onListed }: Pick<LoadingAids, 'memory' | 'onListed'>,
): FoundWorkspace {
  if (!exists(join(root, workspaceFile))) {
    throw new EdgewiseError(
      'not-a-workspace',
      `there is no ${workspaceFile} in ${root}`,
      'Pass the folder of the workspace with -C, or create a workspace with "edgewise init".',
    )
  }
  const folder = findRealPath(root)
  const home =
    [...added, ...(memory?.listUnsaved() ?? [])].find(({ path }) => path === workspaceFile) ??
    loadSource(folder, workspaceFile)
  if ('severity' in home) throw createInvalidError([home])
  const loaded = parseWorkspaceConfig(home, env)
  if (loaded.config === null) throw createInvalidError(loaded.diagnostics)
  const values = loadSecretsWithoutCommand(folder, loaded.config.secrets, env)
  refuseFindings(loaded.document, checkSecretValues(loaded.config, values))

  const { config, document } = loaded
  const globs = [config.manifests, config.profiles, config.policies]
  const found = findFiles(folder, config, ['manifests', 'profiles', 'policies'], onListed)
  const policies = findFiles(folder, config, ['policies'])
  const policyFiles = new Set(policies.paths)
  const diagnostics = [
    ...loaded.diagnostics,
    ...found.diagnostics,
    ...findForgottenFiles(folder, omitMatching(found.unmatched, config.tests), globs),
  ]
  const replaced = new Set(added.map(({ path }) => path))
  const known = memory?.addPaths(found.paths, config) ?? found.paths
  const paths = omitMatching(known, config.tests).filter(
    (path) => !policyFiles.has(path) && !replaced.has(path),
  )
  return { config, folder, home, document, paths, policyFiles: policies.paths, diagnostics }
}

/** Splits the results of loading into what was loaded, and diagnostics of the other files. */
function splitLoaded<Loaded extends object>(
  results: (Loaded | Diagnostic)[],
): [Loaded[], Diagnostic[]] {
  const loaded: Loaded[] = []
  const diagnostics: Diagnostic[] = []
  for (const result of results)
    if ('severity' in result) diagnostics.push(result)
    else loaded.push(result)
  return [loaded, diagnostics]
}

/** @throws EdgewiseError `invalid` if there are findings in the workspace file */
function refuseFindings(document: YamlDocument, findings: Finding[]): void {
  if (findings.length > 0)
    throw createInvalidError(findings.map((finding) => createDiagnostic(document, finding)))
}

function createInvalidError(diagnostics: Diagnostic[]): EdgewiseError {
  const sorted = limitProblems(diagnostics)
  const [first] = sorted
  const place =
    first === undefined ? '' : ` (${first.file}:${first.line}:${first.column}: ${first.detail})`
  return new EdgewiseError(
    'invalid',
    `${workspaceFile} is not valid${place}`,
    `Correct ${workspaceFile}; "edgewise validate" checks it.`,
    sorted,
  )
}
