import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { compareDiagnostics, type Diagnostic } from '../model/problem.ts'
import type { SecretKeeper } from '../model/secret-keeper.ts'
import { assemble } from './assemble.ts'
import { createDiagnostic } from './finding.ts'
import { findFiles } from './find-files.ts'
import { loadSource } from './load-source.ts'
import { loadSecretsWithoutCommand } from './secret-sources.ts'
import { holdsValue, createSecretAddressFinding } from './service-address.ts'
import { createSourceLineLookup } from './source-line.ts'
import { parseWorkspaceConfig } from './workspace-config.ts'
import type { Workspace, WorkspaceConfig } from './workspace.ts'
import { parseYaml, type SourceFile, type YamlDocument } from './yaml-file.ts'

const workspaceFile = 'edgewise.yaml'

/**
 * The nearest folder from `start` upwards that holds an `edgewise.yaml`; null when there is none.
 */
export function findRoot(start: string): string | null {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (existsSync(join(folder, workspaceFile))) return folder
    if (folder === dirname(folder)) return null
  }
}

/**
 * Reads a workspace: its file, its manifests and its profiles. Problems of manifests and profiles
 * are its diagnostics.
 * @throws EdgewiseError `not-a-workspace` where there is no `edgewise.yaml`, `invalid` with
 * diagnostics where it is wrong.
 */
export function loadWorkspace(
  root: string,
  env: Record<string, string | undefined>,
  keeperFor: (config: WorkspaceConfig) => SecretKeeper,
): Workspace {
  const { config, home, document, files, diagnostics } = readFiles(root, env)
  const all = [...diagnostics]
  const documents = files.flatMap((file) => {
    const yaml = parseYaml(file)
    all.push(...yaml.diagnostics)
    return yaml.documents
  })
  const keeper = keeperFor(config)
  const assembled = assemble(config, document, documents, keeper)
  // The values that the manifests refer to are known only now.
  if (keeper.occursIn(config.service.url))
    throw invalid([createDiagnostic(document, createSecretAddressFinding())])
  return {
    root,
    config,
    desired: assembled.desired,
    diagnostics: [...all, ...assembled.diagnostics].toSorted(compareDiagnostics),
    findItemPlace: assembled.findItemPlace,
    findSourceLine: createSourceLineLookup([home, ...files]),
  }
}

/**
 * The files of a workspace: `edgewise.yaml`, manifests and profiles; and what is wrong with those
 * that can't be read.
 * @throws EdgewiseError as `loadWorkspace` does
 */
export function loadWorkspaceFiles(
  root: string,
  env: Record<string, string | undefined>,
): { files: SourceFile[]; diagnostics: Diagnostic[] } {
  const { home, files, diagnostics } = readFiles(root, env)
  return { files: [home, ...files], diagnostics }
}

interface ReadFiles {
  config: WorkspaceConfig
  home: SourceFile
  document: YamlDocument
  files: SourceFile[]
  diagnostics: Diagnostic[]
}

function readFiles(root: string, env: Record<string, string | undefined>): ReadFiles {
  if (!existsSync(join(root, workspaceFile))) {
    throw new EdgewiseError(
      'not-a-workspace',
      `there is no ${workspaceFile} in ${root}`,
      'Name the folder of the workspace with -C, or make one with "edgewise init".',
    )
  }
  const home = realpathSync(root)
  const source = loadSource(home, workspaceFile)
  if (!isSource(source)) throw invalid([source])
  const read = parseWorkspaceConfig(source, env)
  if (read.config === null) throw invalid(read.diagnostics)
  const { service, secrets } = read.config
  if (
    service.url !== 'emulator' &&
    holdsValue(service.url, loadSecretsWithoutCommand(home, secrets, env))
  )
    throw invalid([createDiagnostic(read.document, createSecretAddressFinding())])

  const found = findFiles(home, [read.config.manifests, read.config.profiles])
  const files: SourceFile[] = []
  const diagnostics = [...read.diagnostics, ...found.diagnostics]
  for (const path of found.paths) {
    const file = loadSource(home, path)
    if (isSource(file)) files.push(file)
    else diagnostics.push(file)
  }
  return { config: read.config, home: source, document: read.document, files, diagnostics }
}

function isSource(read: SourceFile | Diagnostic): read is SourceFile {
  return 'text' in read
}

function invalid(diagnostics: Diagnostic[]): EdgewiseError {
  const sorted = diagnostics.toSorted(compareDiagnostics)
  const [first] = sorted
  const where =
    first === undefined ? '' : ` (${first.file}:${first.line}:${first.column}: ${first.detail})`
  return new EdgewiseError(
    'invalid',
    `${workspaceFile} is not valid${where}`,
    `Correct ${workspaceFile}; "edgewise validate" checks it.`,
    sorted,
  )
}
