import { readdirSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { globSync } from 'tinyglobby'
import type { Diagnostic } from '../model/problem.ts'
import { createFileDiagnostic } from './finding.ts'

/** Files that match globs, and diagnostics of those that can't be used. */
export interface FoundFiles {
  /** Relative to the root, with `/`, sorted. */
  paths: string[]
  /** Files in the searched folders that no glob matches. */
  unmatched: string[]
  diagnostics: Diagnostic[]
}

/**
 * Finds the files below a root that match any glob of any list. A "!" excludes files from its own
 * list only. Links within the workspace are followed, each folder once. A link to a folder outside,
 * an unreadable folder and a folder named like a YAML file are diagnostics.
 *
 * @param onListed gets the number of files listed so far
 */
export function findFiles(
  root: string,
  lists: string[][],
  onListed?: (files: number) => void,
): FoundFiles {
  const home = realpathSync(root)
  let listed = 0
  const onFolder = (entries: number) => onListed?.((listed += entries))
  const found = lists.map((globs) => matchGlobs(home, globs, onFolder))
  const diagnostics = new Map(
    found.flatMap((each) => each.diagnostics.map((diagnostic) => [diagnostic.file, diagnostic])),
  )
  const paths = new Set(found.flatMap((each) => each.paths))
  const unmatched = new Set(found.flatMap((each) => each.unmatched))
  return {
    paths: [...paths].filter((path) => path !== 'edgewise.yaml').toSorted(),
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
  const report = (
    folder: string,
    name: string,
    code: Diagnostic['code'],
    summary: string,
    detail: string,
  ) => {
    diagnostics.push(
      createFileDiagnostic(relative(home, join(folder, name)).replaceAll(sep, '/'), {
        code,
        summary,
        detail,
      }),
    )
  }
  const listed: string[] = []
  const list = createLister(home, report, listed, onFolder)
  const matched =
    matchSimply(home, globs, list) ??
    globSync(globs, {
      cwd: home,
      onlyFiles: false,
      expandDirectories: false,
      followSymbolicLinks: false,
      ignore: ['**/node_modules/**'],
      fs: {
        readdirSync: list as unknown as typeof readdirSync,
      },
    })
  for (const path of matched.filter((each) => /\.ya?ml\/$/.test(each))) {
    report(
      home,
      path,
      'file-invalid',
      'This is a folder',
      'expected a YAML file under this name, got a folder. Rename it.',
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
  list: (folder: string) => Dirent[],
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
 * Creates a folder reader for the glob: links to folders of the workspace are listed as folders,
 * everything else as files, so that loading them reports the reason.
 *
 * @param listed gets the paths of the listed files, except hidden ones and packages
 */
function createLister(
  home: string,
  report: (
    folder: string,
    name: string,
    code: Diagnostic['code'],
    summary: string,
    detail: string,
  ) => void,
  listed: string[],
  onFolder: (entries: number) => void,
): (folder: string) => Dirent[] {
  const followed = new Set<string>()
  const listLinked = (folder: string, entry: Dirent): Dirent[] => {
    const target = resolveFolder(join(folder, entry.name))
    if (target === null) return [showAs('file', entry)]
    if (!isWithin(home, target)) {
      report(
        folder,
        entry.name,
        'file-invalid',
        'Link to outside the workspace',
        'expected a link to a folder of the workspace, got a link to outside. Move its ' +
          'target into the workspace.',
      )
      return []
    }
    const isRepeated = followed.has(target) || isWithin(target, realpathSync(folder))
    followed.add(target)
    return isRepeated ? [] : [showAs('folder', entry)]
  }
  return (folder) => {
    try {
      const found = readdirSync(folder, { withFileTypes: true })
      const entries = found.every((entry) => entry.isFile() || entry.isDirectory())
        ? found
        : found.flatMap((entry) => {
            if (entry.isSymbolicLink()) return listLinked(folder, entry)
            return [entry.isDirectory() || entry.isFile() ? entry : showAs('file', entry)]
          })
      onFolder(entries.length)
      const path = relative(home, folder).replaceAll(sep, '/')
      if (!/(^|\/)(\.|node_modules(\/|$))/.test(path))
        for (const entry of entries)
          if (entry.isFile() && !entry.name.startsWith('.'))
            listed.push(path === '' ? entry.name : `${path}/${entry.name}`)
      return entries
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      // The base folder of a glob need not exist.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      report(
        folder,
        '',
        'file-unreadable',
        "This folder can't be read",
        `reading it failed: ${explainFileError(String(error.code))}`,
      )
      return []
    }
  }
}

/** Tests whether a real path is a folder or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Explains in words why a call of the file system failed, by the code of its error. */
export function explainFileError(code: string): string {
  return reasons.get(code) ?? code
}

const reasons = new Map([
  ['EACCES', 'no permission'],
  ['EPERM', 'no permission'],
  ['ENOENT', 'it does not exist (or is a broken link)'],
  ['ELOOP', 'its links form a cycle'],
  ['EISDIR', 'it is a folder'],
  ['EMFILE', 'too many files are open'],
])

function resolveFolder(path: string): string | null {
  try {
    const target = realpathSync(path)
    return statSync(target).isDirectory() ? target : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

function showAs(kind: 'file' | 'folder', entry: Dirent): Dirent {
  return Object.assign(Object.create(entry) as Dirent, {
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'folder',
    isSymbolicLink: () => false,
  })
}
