import { readdirSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { globSync } from 'tinyglobby'
import type { Diagnostic } from '../model/problem.ts'
import { createFileDiagnostic } from './finding.ts'

/** The files that globs name, and what stands in the way of some. */
export interface FoundFiles {
  /** Relative to the root, with `/`, sorted. */
  paths: string[]
  diagnostics: Diagnostic[]
}

/**
 * The files below a root that match any glob of any list; a "!" takes out of its own list only.
 * Links are followed within the workspace, each folder once; a link to a folder outside, a folder
 * that can't be read and a folder that is named like a file are diagnostics.
 */
export function findFiles(root: string, lists: string[][]): FoundFiles {
  const home = realpathSync(root)
  const found = lists.map((globs) => matches(home, globs))
  const diagnostics = new Map(
    found.flatMap((each) => each.diagnostics.map((diagnostic) => [diagnostic.file, diagnostic])),
  )
  const paths = new Set(found.flatMap((each) => each.paths))
  return {
    paths: [...paths].filter((path) => path !== 'edgewise.yaml').toSorted(),
    diagnostics: [...diagnostics.values()],
  }
}

function matches(home: string, globs: string[]): FoundFiles {
  const diagnostics: Diagnostic[] = []
  const say = (
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
  const matched = globSync(globs, {
    cwd: home,
    onlyFiles: false,
    expandDirectories: false,
    followSymbolicLinks: false,
    ignore: ['**/node_modules/**'],
    fs: { readdirSync: lister(home, say) as unknown as typeof readdirSync },
  })
  for (const path of matched.filter((each) => /\.ya?ml\/$/.test(each))) {
    say(
      home,
      path,
      'file-invalid',
      'This is a folder',
      'expected a YAML file under this name, got a folder. Rename it.',
    )
  }
  return { paths: matched.filter((path) => !path.endsWith('/')), diagnostics }
}

/**
 * What stands in a folder, for the glob: links to folders of the workspace as folders, everything
 * else as files, so that reading it says what it is.
 */
function lister(
  home: string,
  say: (
    folder: string,
    name: string,
    code: Diagnostic['code'],
    summary: string,
    detail: string,
  ) => void,
): (folder: string) => Dirent[] {
  const followed = new Set<string>()
  const linked = (folder: string, entry: Dirent): Dirent[] => {
    const target = folderBehind(join(folder, entry.name))
    if (target === null) return [shownAs('file', entry)]
    if (!isWithin(home, target)) {
      say(
        folder,
        entry.name,
        'file-invalid',
        'This link leaves the workspace',
        'expected a link to a folder of the workspace, got one outside. Move what it points to into the workspace.',
      )
      return []
    }
    const again = followed.has(target) || isWithin(target, realpathSync(folder))
    followed.add(target)
    return again ? [] : [shownAs('folder', entry)]
  }
  return (folder) => {
    try {
      return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
        entry.isSymbolicLink()
          ? linked(folder, entry)
          : [entry.isDirectory() ? entry : shownAs('file', entry)],
      )
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      // The folder that a glob begins with need not exist.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      say(
        folder,
        '',
        'file-unreadable',
        "This folder can't be read",
        `reading it failed: ${explainFileError(error)}`,
      )
      return []
    }
  }
}

/** True when a real path is another one or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Why a call of the file system failed, in words. */
export function explainFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return reasons[code] ?? (error instanceof Error ? error.message : String(error))
}

const reasons: Record<string, string> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  ENOENT: 'it does not exist (a link may point nowhere)',
  ELOOP: 'its links go round in a circle',
  EISDIR: 'it is a folder',
  EMFILE: 'too many files are open',
}

function folderBehind(path: string): string | null {
  try {
    const target = realpathSync(path)
    return statSync(target).isDirectory() ? target : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

function shownAs(kind: 'file' | 'folder', entry: Dirent): Dirent {
  return Object.assign(Object.create(entry) as Dirent, {
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'folder',
    isSymbolicLink: () => false,
  })
}
