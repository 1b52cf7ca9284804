import { isAbsolute, relative, resolve, sep } from 'node:path'
import picomatch from 'picomatch'
import { exists, findKind, findRealPath } from '../files/look.ts'
import { findFiles } from '../manifest/manifests/find-files.ts'
import type { FileGlobs } from '../manifest/workspace-file/file-kinds.ts'
import type { WorkspaceFile } from '../manifest/manifests/list-files.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Diagnostic } from '../core/model/problem.ts'

/** The part of a workspace that a command checks. */
export interface FileSelection {
  /** Named files, and for a named profile the files with manifests that use it. */
  files: WorkspaceFile[]
  /** Tests whether a diagnostic is about the selection. */
  includes(diagnostic: Pick<Diagnostic, 'file' | 'pointer'>): boolean
}

/** What the files of a command are called in messages. */
const ofWorkspace = { one: 'file of the workspace', all: 'for all files' }

/** A test for paths relative to the root; or why nothing can match. */
type Matcher = ((file: string) => boolean) | string

/**
 * Selects files of a workspace by name, folder or glob. A manifest is checked together with the
 * profiles that it uses, a profile together with the manifests that use it.
 *
 * @param paths relative to `cwd`; none selects everything
 * @param config of a workspace whose other files are no mistake; the command leaves them alone
 * @throws EdgewiseError `usage` that names each path which matches nothing
 */
export function selectFiles(
  files: WorkspaceFile[],
  diagnostics: Diagnostic[],
  paths: string[],
  { root, cwd, config }: { root: string; cwd: string; config?: FileGlobs },
  called = ofWorkspace,
): FileSelection {
  if (paths.length === 0) return { files, includes: () => true }
  const others = config && findFiles(root, config, ['requests', 'schema', 'owners']).paths
  const broken = diagnostics.filter(({ severity }) => severity === 'error').map(({ file }) => file)
  const known = [...new Set([...files.map(({ path }) => path), ...broken, ...(others ?? [])])]
  const matchers = paths.map((path) => {
    const matches = createMatcher(path, root, cwd)
    if (typeof matches === 'string') return { path, matches: () => false, fault: matches }
    const fault = known.some(matches) ? null : explainMismatch(resolve(cwd, path), called.one)
    return { path, matches, fault }
  })
  const faults = matchers.flatMap(({ path, fault }) =>
    fault === null ? [] : [`${path === '' ? '""' : path}: ${fault}`],
  )
  if (faults.length > 0)
    throw new EdgewiseError(
      'usage',
      faults.join('; '),
      'Pass files, folders or globs of the workspace, relative to the current folder, or none ' +
        `${called.all}.`,
    )
  const isNamed = (file: string) => matchers.some(({ matches }) => matches(file))
  const named = files.filter(({ path }) => isNamed(path))
  const profiles = new Set(named.flatMap(({ path, profiles: own }) => (own > 0 ? [path] : [])))
  const selected = files.filter(
    (file) =>
      isNamed(file.path) ||
      (file.manifests > 0 && [...file.uses].some((path) => profiles.has(path))),
  )
  const shown = new Set([...selected.map(({ path }) => path), ...named.flatMap(listUses)])
  const hasManifests = selected.some(({ manifests }) => manifests > 0)
  return {
    files: selected,
    includes: ({ file, pointer }) =>
      isNamed(file) ||
      shown.has(file) ||
      // The defaults are below every manifest.
      (hasManifests && file === 'edgewise.yaml' && pointer?.startsWith('/defaults') === true),
  }
}

function listUses({ uses }: WorkspaceFile): string[] {
  return [...uses]
}

function createMatcher(path: string, root: string, cwd: string): Matcher {
  if (path === '') return 'an empty path'
  const absolute = resolve(cwd, path)
  const roots = [root, findRealPath(root)]
  if (exists(absolute)) {
    const inside = [absolute, findRealPath(absolute)].flatMap((each) =>
      roots.flatMap((folder) => findInside(folder, each)),
    )
    if (inside.length === 0) return `outside the workspace ${root}`
    return (file) =>
      inside.some((each) => each === '' || file === each || file.startsWith(`${each}/`))
  }
  if (!isGlob(path)) return 'no such file or folder'
  const globs = [cwd, findRealPath(cwd)].flatMap((folder) =>
    roots.flatMap((each) => findInside(escapeGlob(each), resolve(escapeGlob(folder), path))),
  )
  return globs.length === 0 ? `outside the workspace ${root}` : picomatch(globs, { dot: true })
}

function explainMismatch(path: string, one: string): string {
  const kind = findKind(path)
  if (kind === null) return `this glob matches no ${one}`
  if (kind === 'folder') return `no ${one} below this folder`
  return 'no glob of edgewise.yaml matches this file'
}

/** Returns the path from a folder with `/`; none if it is outside. */
function findInside(folder: string, path: string): string[] {
  const inside = relative(folder, path).split(sep).join('/')
  return inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? [] : [inside]
}

function isGlob(path: string): boolean {
  return /[*?[\]{}()!]/.test(path)
}

/** Escapes a folder, which may contain characters of globs. */
function escapeGlob(folder: string): string {
  return folder.replace(/[*?[\]{}()!+@|]/g, '\\$&')
}
