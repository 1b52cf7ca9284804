import { basename } from 'node:path'
import picomatch from 'picomatch'
import type { Diagnostic } from '../model/problem.ts'
import { createFileDiagnostic } from './finding.ts'
import { loadSource } from './load-source.ts'

/**
 * Warns of manifests and profiles that are not loaded only because of the end of their name, such
 * as `.YAML`, `.json` or none. A file counts as one if it has their first key.
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
  const folders = lists.flat().map((glob) => picomatch.scan(glob).base)
  return unmatched
    .filter((path) => {
      // In the root of a repository, JSON files and files without extension are something else.
      const isBelow = folders.some((folder) => folder !== '' && path.startsWith(`${folder}/`))
      return (isBelow || /\.ya?ml$/i.test(path)) && matchesGlobs(rename(path), lists)
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
            'it looks like a manifest or a profile, but no glob of edgewise.yaml matches its ' +
            `name. Rename it to "${basename(rename(path))}", or exclude it with the glob ` +
            `"!${path}".`,
        }),
      ]
    })
}

/** Tests whether any of several lists of globs selects a path; a "!" excludes in its own list. */
export function matchesGlobs(path: string, lists: string[][]): boolean {
  return lists.some((globs) => {
    const included = globs.filter((glob) => !glob.startsWith('!'))
    const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))
    return (
      included.some((glob) => picomatch(glob)(path)) &&
      !excluded.some((glob) => picomatch(glob)(path))
    )
  })
}

function rename(path: string): string {
  return `${path.replace(/\.(ya?ml|json)$/i, '')}.yaml`
}

function looksDeclared(path: string, text: string): boolean {
  const name = basename(path)
  const [, key, value] =
    /^[{\s]*["']?(domains?|profile)["']?[ \t]*:[ \t]*["']?([^\s"',]*)/m.exec(text) ?? []
  if (key === undefined) return false
  // Any other name with a dot has an extension, and was chosen: notes.md, www.yaml.bak.
  return (
    !name.includes('.') ||
    /\.(ya?ml|json)$/i.test(name) ||
    (key === 'domain' && value?.toLowerCase() === name.toLowerCase())
  )
}
