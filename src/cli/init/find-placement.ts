import { dirname, join, relative, sep } from 'node:path'
import { exists, findRealPath } from '../../files/look.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { parseWorkspaceConfig } from '../../manifest/workspace-file/workspace-config.ts'
import { parseYaml, type SourceFile } from '../../manifest/yaml/yaml-file.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, type JsonObject } from '../../core/model/json.ts'
import { escapeInvisible, quoteVisibly } from '../../outlets/report/text/escape-invisible.ts'
import { findLine } from '../../state/git/ask-git.ts'
import type { Git } from '../../state/git/git-command.ts'
import { buildGitEnvironment, outsideRepositories } from '../../state/git/git-environment.ts'
import { openPlace } from '../../state/git/open-place.ts'
import picomatch from 'picomatch'

type Environment = Record<string, string | undefined>

/** Place of a workspace, and the top folder of its repository. */
export interface FoundPlacement extends Placement {
  top: string
}

/**
 * Finds the repository of a workspace and its default branch. Outside of a repository, the
 * workspace is taken for the top folder of one.
 *
 * @throws EdgewiseError `usage` if the path or the branch can't stand in a workflow, `unavailable`
 * if git refuses to work in the folder
 */
export async function findPlacement(root: string, env: Environment): Promise<FoundPlacement> {
  const start = findExistingFolder(root)
  const home = findRealPath(start)
  const target = join(home, relative(start, root))
  const gitEnv = buildGitEnvironment(env, env['EDGEWISE_TOKEN'] ?? '')
  const place = openPlace(home, gitEnv)
  const { createLibraryGit } = await import('../../state/git/library-git.ts')
  const git = createLibraryGit(place ?? outsideRepositories(home), gitEnv)
  const top = place?.workTree ?? target
  const workspace = relative(top, target).replaceAll(sep, '/') || '.'
  const branch = await findBranch(git, place !== null)
  refuseUnwritable(workspace, branch)
  return { top, workspace, branch, paths: listPaths(workspace, loadGlobs(root, env)) }
}

function refuseUnwritable(workspace: string, branch: string): void {
  if (!isPlainPath(workspace))
    throw new EdgewiseError(
      'usage',
      `the path of the workspace in its repository, "${escapeInvisible(workspace)}", can't stand ` +
        'in a workflow',
      'Use letters, digits, blanks and the characters . _ - @ / for it.',
    )
  if (branch.includes('${{'))
    throw new EdgewiseError(
      'usage',
      `the default branch, "${escapeInvisible(branch)}", can't stand in a workflow`,
      'Its "${{" would begin an expression. Rename the branch.',
    )
}

function findExistingFolder(root: string): string {
  return exists(root) ? root : findExistingFolder(dirname(root))
}

/** Finds the default branch: of origin, else the current one, else that of new repositories. */
async function findBranch(git: Git, isInRepository: boolean): Promise<string> {
  const refs = isInRepository
    ? [
        await findLine(git, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD']),
        await findLine(git, ['symbolic-ref', '--quiet', 'HEAD']),
      ]
    : []
  const ref = refs.find((name) => name !== null)
  if (ref !== undefined) return (ref ?? '').replace(/^refs\/(heads|remotes\/origin)\//, '')
  return (await findLine(git, ['var', 'GIT_DEFAULT_BRANCH'])) ?? 'main'
}

/** Loads `edgewise.yaml` as written; empty if it does not exist or is no mapping. */
export function loadContent(root: string): JsonObject {
  const source = loadConfig(root)
  const content = source === null ? null : parseYaml(source).documents[0]?.value
  return isObject(content) ? content : {}
}

function loadConfig(root: string): SourceFile | null {
  if (!exists(join(root, 'edgewise.yaml'))) return null
  const source = loadSource(findRealPath(root), 'edgewise.yaml')
  return 'text' in source ? source : null
}

/** Loads the globs of all files that a plan loads; `**` if `edgewise.yaml` is invalid. */
function loadGlobs(root: string, env: Environment): string[] {
  if (!exists(join(root, 'edgewise.yaml'))) return initialGlobs
  const source = loadConfig(root)
  const config = source === null ? null : parseWorkspaceConfig(source, env).config
  if (config === null) return ['**']
  const { manifests, profiles, tests, policies, requests } = config
  return [manifests, profiles, tests, policies, requests].flat()
}

/** Place of a workspace in its repository: what a workflow needs to know of it. */
export interface Placement {
  /** Path from the top folder of the repository, with `/`; `.` for the top folder. */
  workspace: string
  /** Branch whose commits are applied. */
  branch: string
  /** Files and folders of the workspace, from the top folder; `.` for all files. */
  paths: string[]
}

/** Globs of the files that a plan loads in a new workspace. */
export const initialGlobs = ['domains/**', 'profiles/**', 'tests/**', 'policies/**']

/** Characters of paths that are plain in YAML, in globs and in a shell within quotes. */
const plainPart = String.raw`[\p{L}\p{N}_@.][\p{L}\p{N}_@. -]*`
const plainPath = new RegExp(`^${plainPart}(?:/${plainPart})*$`, 'u')

/** Checks that a path can stand in a workflow without an escape. */
function isPlainPath(path: string): boolean {
  return plainPath.test(path) && escapeInvisible(path) === path
}

/**
 * Lists the paths of a workspace, from the top folder of its repository.
 *
 * @param globs of the files that a plan loads
 */
export function listPaths(workspace: string, globs: string[]): string[] {
  // All files of a workspace are below its folder.
  if (workspace !== '.') return [workspace]
  const bases = globs
    .filter((glob) => !glob.startsWith('!'))
    .map((glob) => picomatch.scan(glob).base.replace(/^\.\/|\/$/g, ''))
  const paths = [...new Set(['edgewise.yaml', ...bases])]
  return paths.every((path) => path !== '.' && isPlainPath(path)) ? paths : ['.']
}

/**
 * Builds the globs for paths: a path with the ending of YAML is a file, one with another ending may
 * be one, any other is a folder, whose files match `all`.
 */
export function buildGlobs(paths: string[], all: string): string[] {
  return paths.flatMap((path) => [
    ...(/\.\w+$/.test(path) ? [path] : []),
    ...(/\.ya?ml$/.test(path) ? [] : [`${path}/${all}`]),
  ])
}

/** Builds the suffix of a workspace in names of workflows; '' for the top folder. */
export function buildSuffix(workspace: string): string {
  return workspace === '.' ? '' : `-${workspace.replaceAll(/[/ ]+/g, '-')}`
}

/** Quotes a path for a shell if it needs quotes. */
export function quotePath(path: string): string {
  return /^[\p{L}\p{N}_@./:\\-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** Formats a text as a YAML scalar on one line. */
export function formatScalar(text: string): string {
  const isWord = /^(true|false|yes|no|on|off|y|n|null|\.inf|\.nan)$/i.test(text)
  const isPlain = text === '.' || (!isWord && /^\.?[A-Za-z][\w./*-]*$/.test(text))
  return isPlain ? text : quoteVisibly(text)
}
