import { explainFailure } from '../../files/explain-failure.ts'
import { join, relative, sep } from 'node:path'
import { globSync, type FileSystemAdapter } from 'tinyglobby'
import { createLister, type Entry, type ListFault } from '../../files/list-below.ts'
import { maxListed } from '../../files/list-names.ts'
import { findRealPath } from '../../files/look.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createFileDiagnostic } from './finding.ts'
import { listFileKinds, type FileGlobs, type FileKind } from '../workspace-file/file-kinds.ts'
import { workspaceFile } from '../workspace-file/find-root.ts'

/** Files that match globs, and diagnostics of those that can't be used. */
export interface FoundFiles {
  /** Relative to the root, with `/`, sorted. */
  paths: string[]
  /** Files in the searched folders that no glob matches. */
  unmatched: string[]
  diagnostics: Diagnostic[]
}

/**
 * Finds the files of some kinds below a root, by their globs. A "!" excludes files from its own
 * list only. Links within the workspace are followed, each folder once. A link to a folder outside,
 * an unreadable folder, a folder named like a YAML file and too many files are diagnostics.
 *
 * @param onListed gets the number of files listed so far
 */
export function findFiles(
  root: string,
  globs: FileGlobs,
  kinds: FileKind[],
  onListed?: (files: number) => void,
): FoundFiles {
  const home = findRealPath(root)
  const lists = listFileKinds(globs)
  let listed = 0
  const onFolder = (entries: number) => onListed?.((listed += entries))
  const found = kinds.map((kind) => matchGlobs(home, lists[kind], onFolder))
  const diagnostics = new Map(
    found.flatMap((each) => each.diagnostics.map((diagnostic) => [diagnostic.file, diagnostic])),
  )
  const paths = new Set(found.flatMap((each) => each.paths))
  const unmatched = new Set(found.flatMap((each) => each.unmatched))
  return {
    paths: [...paths].filter((path) => path !== workspaceFile).toSorted(),
    unmatched: [...unmatched].filter((path) => !paths.has(path)).toSorted(),
    diagnostics: [...diagnostics.values()],
  }
}

function matchGlobs(
  home: string,
  globs: string[],
  onFolder: (entries: number) => void,
): FoundFiles {
  const diagnostics: Diagnostic[] = []
  const listed: string[] = []
  const list = noteFiles(
    home,
    createLister(home, (fault) => diagnostics.push(diagnose(fault))),
    listed,
    onFolder,
  )
  const matched =
    matchSimply(home, globs, list) ??
    globSync(globs, {
      cwd: home,
      onlyFiles: false,
      expandDirectories: false,
      followSymbolicLinks: false,
      ignore: ['**/node_modules/**'],
      fs: { readdirSync: list as unknown as FileSystemAdapter['readdirSync'] },
    })
  for (const path of matched.filter((each) => /\.ya?ml\/$/.test(each))) {
    diagnostics.push(
      createFileDiagnostic(relative(home, join(home, path)).replaceAll(sep, '/'), {
        code: 'file-invalid',
        summary: 'This is a folder',
        detail: 'expected a YAML file under this name, got a folder. Rename it.',
      }),
    )
  }
  return { paths: matched.filter((path) => !path.endsWith('/')), unmatched: listed, diagnostics }
}

/** Glob of all YAML files below a folder, as the default ones. */
const simpleGlob = /^((?:[\w-]+\/)+)\*\*\/\*\.(?:\{yaml,yml\}|(yaml|yml))$/

/**
 * Finds what `globSync` finds for the usual globs: loading that and compiling its patterns takes
 * longer than most searches. Null for any other list of globs.
 */
function matchSimply(
  home: string,
  globs: string[],
  list: (folder: string) => Entry[],
): string[] | null {
  const [glob = '', ...others] = globs
  const [, base = '', extension = 'ya?ml'] = simpleGlob.exec(glob) ?? []
  if (base === '' || others.length > 0 || base.split('/').includes('node_modules')) return null
  const isMatch = new RegExp(`\\.${extension}$`)
  const matched: string[] = []
  const search = (path: string) => {
    for (const entry of list(join(home, path))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const isFolder = entry.isDirectory()
      if (isMatch.test(entry.name)) matched.push(`${path}${entry.name}${isFolder ? '/' : ''}`)
      if (isFolder) search(`${path}${entry.name}/`)
    }
  }
  search(base)
  return matched
}

/**
 * Returns the reader, which also notes the files that it lists.
 *
 * @param listed gets the paths of the listed files, except packages and hidden ones other than YAML
 */
function noteFiles(
  home: string,
  list: (folder: string) => Entry[],
  listed: string[],
  onFolder: (entries: number) => void,
): (folder: string) => Entry[] {
  return (folder) => {
    const entries = list(folder)
    onFolder(entries.length)
    const path = relative(home, folder).replaceAll(sep, '/')
    if (!/(^|\/)(\.|node_modules(\/|$))/.test(path))
      for (const entry of entries)
        if (entry.isFile() && /^[^.]|\.ya?ml$/i.test(entry.name))
          listed.push(path === '' ? entry.name : `${path}/${entry.name}`)
    return entries
  }
}

function diagnose({ path, kind, code }: ListFault): Diagnostic {
  if (kind === 'unreadable')
    return createFileDiagnostic(path, {
      code: 'file-unreadable',
      summary: "This folder can't be read",
      detail: `reading it failed: ${explainFailure(code) ?? code}`,
    })
  if (kind === 'too-many')
    return createFileDiagnostic(workspaceFile, {
      code: 'file-invalid',
      summary: 'Too many files',
      detail:
        `the folders of a glob have more than ${maxListed.toLocaleString('en')} files. ` +
        'Begin the glob with a folder that has fewer.',
    })
  return createFileDiagnostic(path, {
    code: 'file-invalid',
    summary: 'Link to outside the workspace',
    detail:
      'expected a link to a folder of the workspace, got a link to outside. Move its ' +
      'target into the workspace.',
  })
}
