import { basename, parse } from 'node:path'
import picomatch from 'picomatch'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { findRealPath } from '../../files/look.ts'
import { listFileKinds, type FileGlobs, type FileKind } from '../workspace-file/file-kinds.ts'
import { findFiles } from './find-files.ts'
import { createFileDiagnostic } from './finding.ts'
import { loadSource } from './load-source.ts'
import { scanDomains } from './scan-domains.ts'

/**
 * Warns of manifests, profiles and policies that are not loaded only because of their name: it is
 * hidden, or ends in `.YAML`, `.json`, `.txt` or nothing. A file counts as one by its first key.
 *
 * @param root a real path
 * @param unmatched files in the searched folders that no glob matches
 * @param lists of globs
 */
export function findForgottenFiles(
  root: string,
  unmatched: string[],
  lists: string[][],
): Diagnostic[] {
  if (unmatched.length === 0) return []
  const folders = lists.flat().map((glob) => picomatch.scan(glob).base)
  const matches = compileGlobs(lists)
  return unmatched
    .filter((path) => {
      // In the root of a repository, JSON files and files without extension are something else.
      const isBelow = folders.some((folder) => folder !== '' && path.startsWith(`${folder}/`))
      return (isBelow || /\.ya?ml$/i.test(path)) && matches(rename(path))
    })
    .flatMap((path) => {
      const source = loadSource(root, path)
      if (!('text' in source) || !looksDeclared(path, source.text)) return []
      return [
        createFileDiagnostic(path, {
          code: 'file-invalid',
          severity: 'warning',
          summary: 'This file is not loaded',
          detail:
            'it looks like a manifest, a profile or a policy, but no glob of edgewise.yaml ' +
            `matches its name. Rename it to "${basename(rename(path))}", or exclude it with the ` +
            `glob "!${path}".`,
        }),
      ]
    })
}

/** Finds the kind of a file by its path; undefined for a file of no workspace. */
export function findFileKind(path: string, globs: FileGlobs): FileKind | undefined {
  const kinds = Object.entries(listFileKinds(globs)) as [FileKind, string[]][]
  return kinds.find(([, list]) => compileGlobs([list])(path))?.[0]
}

/** Tests whether a file would be loaded as one of manifests or profiles. */
export function isDeclaring(path: string, globs: FileGlobs): boolean {
  const kind = findFileKind(path, globs)
  return kind === 'manifests' || kind === 'profiles'
}

/** Finds the files outside of the globs that declare some domains, as a manifest that was moved. */
export function findMovedManifests(
  root: string,
  config: FileGlobs,
  domains: ReadonlySet<string>,
): string[] {
  const folder = findRealPath(root)
  const { paths } = findFiles(folder, { ...config, manifests: ['**/*.{yaml,yml}'] }, ['manifests'])
  return paths.filter((path) => {
    const source = loadSource(folder, path)
    const declared = 'text' in source ? scanDomains(source.text) : []
    return declared.some((name) => domains.has(name)) && !findFileKind(path, config)
  })
}

/**
 * Omits the paths that globs select. Paths outside of the folders of the globs are not matched:
 * compiling a glob takes longer than loading most files.
 */
export function omitMatching(paths: string[], globs: string[]): string[] {
  const bases = globs.flatMap((glob) =>
    glob.startsWith('!') ? [] : (/^(?:[\w-]+\/)*/.exec(glob)?.[0] ?? ''),
  )
  const isNear = (path: string) => bases.some((base) => path.startsWith(base))
  if (!paths.some(isNear)) return paths
  const matches = compileGlobs([globs])
  return paths.filter((path) => !isNear(path) || !matches(path))
}

/** Compiles lists of globs once for many files: each takes longer to compile than to match. */
function compileGlobs(lists: string[][]): (path: string) => boolean {
  const compiled = lists.map((globs) => ({
    included: globs.filter((glob) => !glob.startsWith('!')).map((glob) => picomatch(glob)),
    excluded: globs.filter((glob) => glob.startsWith('!')).map((glob) => picomatch(glob.slice(1))),
  }))
  return (path) =>
    compiled.some(
      ({ included, excluded }) =>
        included.some((matches) => matches(path)) && !excluded.some((matches) => matches(path)),
    )
}

/** Returns the path that was meant: not hidden, and without an extension by mistake. */
function rename(written: string): string {
  const path = written.replace(/(^|\/)\.(?=[^/]+$)/, '$1')
  const { ext } = parse(path)
  const isMistaken = /^\.(ya?ml|json|txt)$/i.test(ext) || isMisspelt(ext)
  const stem = isMistaken ? path.slice(0, -ext.length) : path
  return `${stem.replace(/\.ya?ml$/i, '')}.yaml`
}

/** Tests whether an extension is `.yaml` or `.yml` with a slip, such as `.ymal`. */
function isMisspelt(ext: string): boolean {
  return /^\.[a-z]+$/i.test(ext) && didYouMean(ext.slice(1), ['yaml', 'yml']) !== ''
}

function looksDeclared(path: string, text: string): boolean {
  const name = basename(path)
  const { ext } = parse(name)
  // In other text such a line may be a part of a sentence.
  if (/^\.txt$/i.test(ext))
    return /^(?:[ \t]*(?:#.*|---.*)?\r?\n)*["']?(?:domains?|profile|policy)["']?[ \t]*:/.test(text)
  const [, key, value] =
    /^[{ \t]*["']?(domains?|profile|policy)["']?[ \t]*:[ \t]*["']?([^\s"',]*)/m.exec(text) ?? []
  if (key === undefined) return false
  // Any other name with a dot has an extension, and was chosen: notes.md, www.yaml.bak.
  return (
    !name.includes('.') ||
    /\.(ya?ml|json)$/i.test(name) ||
    isMisspelt(ext) ||
    (key === 'domain' && value?.toLowerCase() === name.toLowerCase())
  )
}
