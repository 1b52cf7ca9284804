import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { parseBatch } from './parse-batch.ts'
import { createGitError, runForLines, type Git } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

type CommitReader = Pick<GitRepository, 'loadFiles' | 'listTopFolders' | 'listPaths' | 'findId'>

/** A line of `git ls-tree`. */
interface Entry {
  type: string
  id: string
  path: string
}

/** The last commit that was read: all of its paths, and the texts loaded so far. */
interface Snapshot {
  commit: string
  entries: Promise<Entry[]>
  texts: Map<string, string>
}

/**
 * Creates the operations that read the files of a commit. They keep what was read of the last
 * commit, which never changes.
 *
 * @param isPartial whether the clone lacks objects and fetches them on demand: then only the given
 *   paths are read, and nothing is kept
 */
export function createCommitReader(git: Git, isPartial: boolean): CommitReader {
  let last: Snapshot | null = null
  const read = (commit: string): Snapshot | null => {
    if (isPartial || last?.commit === commit) return last
    const snapshot = { commit, entries: listTree(git, ['-r', '-t'], commit), texts: new Map() }
    snapshot.entries.catch(() => {
      if (last === snapshot) last = null
    })
    last = snapshot
    return snapshot
  }
  const list = (commit: string, options: string[], ...paths: string[]): Promise<Entry[]> =>
    read(commit)?.entries ?? listTree(git, options, commit, ...paths)
  const listFiles = async (commit: string, ...paths: string[]) =>
    (await list(commit, ['-r'], ...paths)).filter(
      ({ type, path }) => type !== 'tree' && isInOne(path, paths),
    )
  return {
    loadFiles: async (commit, ...paths) => {
      const texts = read(commit)?.texts ?? new Map<string, string>()
      if (isPartial) await prefetchFiles(git, commit, paths)
      const files = await listFiles(commit, ...paths)
      const missing = files.filter(({ path }) => !texts.has(path))
      for (const [path, text] of await loadTexts(git, commit, missing)) texts.set(path, text)
      return new Map(files.map(({ path }) => [path, texts.get(path) ?? '']))
    },
    listTopFolders: async (commit) =>
      (await list(commit, []))
        .filter(({ type, path }) => type === 'tree' && !path.includes('/'))
        .map(({ path }) => path),
    listPaths: async (commit, path) => (await listFiles(commit, path)).map((file) => file.path),
    findId: async (commit, path) => {
      // One path of another commit: what was read of the last one is kept.
      const known = last?.commit === commit ? last.entries : listTree(git, [], commit, path)
      const entry = (await known).find((found) => found.path === path)
      return entry === undefined ? null : `${entry.type} ${entry.id}`
    },
  }
}

function isInOne(path: string, folders: string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** Lists folders and files of a commit, with options and paths of `git ls-tree`. */
async function listTree(
  git: Git,
  options: string[],
  commit: string,
  ...paths: string[]
): Promise<Entry[]> {
  const args = ['ls-tree', '-z', '--full-tree', ...options, commit, '--', ...paths]
  return (await runForLines(git, args, '', '\0')).map((line) => {
    const tab = line.indexOf('\t')
    const [, type = '', id = ''] = line.slice(0, tab).split(' ')
    return { type, id, path: line.slice(tab + 1) }
  })
}

/**
 * Fetches a partial clone's missing files in one request: git would fetch them one by one. A
 * comparison with the empty tree needs all of them.
 */
async function prefetchFiles(git: Git, commit: string, paths: string[]): Promise<void> {
  const [emptyTree = ''] = await runForLines(git, ['hash-object', '-t', 'tree', '--stdin'])
  await runForLines(git, ['diff-tree', '-r', '--numstat', emptyTree, commit, '--', ...paths])
}

/** Loads the texts of files of a commit, by path. */
async function loadTexts(git: Git, commit: string, files: Entry[]): Promise<Map<string, string>> {
  if (files.length === 0) return new Map()
  const { out, ...rest } = await git(
    ['cat-file', '--batch'],
    `${files.map(({ id }) => id).join('\n')}\n`,
  )
  if (rest.code !== 0) throw createGitError(['cat-file'], { out, ...rest })
  const texts = parseBatch(
    out,
    files.map(({ path }) => path),
  )
  const missing = files.find(({ path }) => !texts.has(path))
  if (missing === undefined) return texts
  throw new EdgewiseError(
    'record-damaged',
    `${missing.path} of commit ${commit} can't be read: the repository lacks the object ` +
      missing.id,
    'Run "git fsck" to check the repository, then restore the object from another clone.',
  )
}
