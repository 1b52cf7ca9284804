import picomatch from 'picomatch'
import { escapeInvisible, quoteVisibly } from '../../report/text/escape-invisible.ts'

/** Place of a workspace in its repository: what a workflow needs to know of it. */
export interface Placement {
  /** Path from the top folder of the repository, with `/`; `.` for the top folder. */
  workspace: string
  /** Branch whose commits are applied. */
  branch: string
  /** Files and folders of the workspace, from the top folder; `.` for all files. */
  paths: string[]
}

/** Globs of manifests and profiles in a new workspace. */
export const initialGlobs = ['domains/**', 'profiles/**']

/** Characters of paths that are plain in YAML, in globs and in a shell within quotes. */
const plainPart = String.raw`[\p{L}\p{N}_@.][\p{L}\p{N}_@. -]*`
const plainPath = new RegExp(`^${plainPart}(?:/${plainPart})*$`, 'u')

/** Checks that a path can stand in a workflow without an escape. */
export function isPlainPath(path: string): boolean {
  return plainPath.test(path) && escapeInvisible(path) === path
}

/**
 * Lists the paths of a workspace, from the top folder of its repository.
 *
 * @param globs of its manifests and profiles
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
 * Builds the globs for paths: a path with the ending of YAML is a file, any other a folder, whose
 * files match `all`.
 */
export function buildGlobs(paths: string[], all: string): string[] {
  return paths.map((path) => (/\.ya?ml$/.test(path) ? path : `${path}/${all}`))
}

/** Builds the suffix of a workspace in names of workflows; '' for the top folder. */
export function buildSuffix(workspace: string): string {
  return workspace === '.' ? '' : `-${workspace.replaceAll(/[/ ]+/g, '-')}`
}

/** Quotes a path for a shell if it needs quotes. */
export function quotePath(path: string): string {
  return /^[\p{L}\p{N}_@./:\\-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** Formats names as lines that follow a step in a comment. */
export function formatNames(names: string[]): string {
  return names.map((name) => `\n#    - ${name}`).join('')
}

/** Formats a text as a YAML scalar on one line. */
export function formatScalar(text: string): string {
  const isWord = /^(true|false|yes|no|on|off|y|n|null|\.inf|\.nan)$/i.test(text)
  const isPlain = text === '.' || (!isWord && /^\.?[A-Za-z][\w./*-]*$/.test(text))
  return isPlain ? text : quoteVisibly(text)
}
