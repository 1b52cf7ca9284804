import { dirname, join, relative, sep } from 'node:path'
import { exists, findRealPath } from '../../files/look.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { parseYaml } from '../../manifest/yaml/yaml-file.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, type JsonObject } from '../../core/model/json.ts'
import { escapeInvisible, quoteVisibly } from '../../outlets/report/text/escape-invisible.ts'
import { findLine } from '../../state/git/ask-git.ts'
import type { Git } from '../../state/git/git-command.ts'
import { buildGitEnvironment, outsideRepositories } from '../../state/git/git-environment.ts'
import { openPlace } from '../../state/git/open-place.ts'

type Environment = Record<string, string | undefined>

/**
 * Finds the repository of a workspace and its default branch. Outside of a repository, the
 * workspace is taken for the top folder of one.
 *
 * @throws EdgewiseError `usage` if the path or the branch can't stand in a workflow, `unavailable`
 * if git refuses to work in the folder
 */
export async function findPlacement(
  root: string,
  env: Environment,
): Promise<Placement & { top: string }> {
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
  return { top, workspace, branch }
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
  if (!exists(join(root, workspaceFile))) return {}
  const source = loadSource(findRealPath(root), workspaceFile)
  const content = 'text' in source ? parseYaml(source).documents[0]?.value : null
  return isObject(content) ? content : {}
}

/** Place of a workspace in its repository: what a workflow needs to know of it. */
export interface Placement {
  /** Path from the top folder of the repository, with `/`; `.` for the top folder. */
  workspace: string
  /** Branch whose commits are applied. */
  branch: string
}

/** Characters of paths that are plain in YAML, in globs and in a shell within quotes. */
const plainPart = String.raw`[\p{L}\p{N}_@.][\p{L}\p{N}_@. -]*`
const plainPath = new RegExp(`^${plainPart}(?:/${plainPart})*$`, 'u')

/** Checks that a path can stand in a workflow without an escape. */
function isPlainPath(path: string): boolean {
  return plainPath.test(path) && escapeInvisible(path) === path
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
