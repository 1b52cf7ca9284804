import { join, relative, sep } from 'node:path'
import { resolveLinks } from '../../files/is-inside.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { SourceTree } from '../../model/source-tree.ts'
import { splitLines, type Git } from './git-command.ts'
import { openPlace } from './open-place.ts'

type Env = Record<string, string>

/** Files that a workspace was loaded from. */
export interface SourceFiles {
  /** Folder of the workspace. */
  root: string
  /** Paths below it. */
  paths: string[]
}

/** How a commit is related to the checked-out one. `unknown`: a shallow clone can't tell. */
export type Relation = 'contained' | 'later' | 'apart' | 'unknown'

/**
 * Finds the tree of a workspace's files: that of the checked-out commit, or one with uncommitted
 * changes. A YAML file that the commit has and the folder does not counts as a change.
 *
 * @returns no commit without a commit, a usable repository or git, and without running git outside
 *   of a repository
 */
export async function findSourceTree({ root, paths }: SourceFiles, env: Env): Promise<SourceTree> {
  const opened = await openQueries(root, env)
  if (opened === null) return { commit: null }
  const { git, folder } = opened
  const head = await git(['rev-parse', '--verify', 'HEAD'])
  const commit = head.code === 0 ? (splitLines(head.out)[0] ?? null) : null
  if (commit === null) return { commit: null }
  const [tracked, status] = await Promise.all([
    git(['ls-files', '-z', '--', folder]),
    git(['status', '--porcelain', '-z', '--untracked-files=no', '--no-renames', '--', folder]),
  ])
  if (tracked.code + status.code !== 0) return { commit: null, onTopOf: commit }
  const own = new Set(paths.map((path) => join(folder, path).split(sep).join('/')))
  const known = new Set(splitLines(tracked.out, '\0'))
  // Two letters about a file stand before its path: in the index, and in the folder.
  const isSame =
    [...own].every((path) => known.has(path)) &&
    splitLines(status.out, '\0').every((line) => {
      const [letters, path] = [line.slice(0, 2), line.slice(3)]
      return !own.has(path) && !(letters.includes('D') && /\.ya?ml$/.test(path))
    })
  return isSame ? { commit } : { commit: null, onTopOf: commit }
}

/**
 * Finds how commits are related to the checked-out one: contained in it, later than it, or apart
 * from it, as is a commit that a complete clone does not have.
 */
export async function relateCommits(
  root: string,
  commits: readonly string[],
  env: Env,
): Promise<Map<string, Relation>> {
  const wanted = [...new Set(commits)].filter((commit) => /^[0-9a-f]{40,64}$/.test(commit))
  const none = new Map(wanted.map((commit) => [commit, 'unknown' as const]))
  if (wanted.length === 0) return none
  const opened = await openQueries(root, env)
  if (opened === null) return none
  const { git } = opened
  const shallow = await git(['rev-parse', '--is-shallow-repository'])
  const found = await git(
    ['cat-file', '--batch-check=%(objecttype)'],
    wanted.map((commit) => `${commit}\n`).join(''),
  )
  const types = splitLines(found.out)
  const present = wanted.filter((_, i) => types[i] === 'commit')
  const missing = await git(
    ['rev-list', '--stdin'],
    ['^HEAD', ...present].map((commit) => `${commit}\n`).join(''),
  )
  if (shallow.code + found.code + missing.code !== 0) return none
  const isShallow = shallow.out.toString('utf8').trim() === 'true'
  const outside = new Set(splitLines(missing.out))
  const relations = new Map<string, Relation>()
  for (const commit of wanted) {
    const isPresent = present.includes(commit)
    if (isPresent && !outside.has(commit)) relations.set(commit, 'contained')
    else if (isPresent && (await isAncestorOf(commit, git))) relations.set(commit, 'later')
    else relations.set(commit, isShallow ? 'unknown' : 'apart')
  }
  return relations
}

/**
 * Finds the one commit after another one that changed the files of a folder: a merge if they came
 * with it. Null if there is not exactly one, or it can't be known.
 *
 * @param after an earlier commit; null for none
 */
export async function findOnlyChange(
  root: string,
  after: string | null,
  last: string,
  env: Env,
): Promise<string | null> {
  const opened = after === null ? null : await openQueries(root, env)
  if (opened === null || ![after, last].every((id) => /^[0-9a-f]{40,64}$/.test(id ?? '')))
    return null
  const { git, folder } = opened
  const ancestor = await git(['merge-base', '--is-ancestor', `${after}`, last])
  const between = ['rev-list', '--first-parent', '--max-count=2', last, `^${after}`, '--', folder]
  const { code, out } = await git(between)
  const commits = splitLines(out)
  return ancestor.code === 0 && code === 0 && commits.length === 1 ? (commits[0] ?? null) : null
}

async function isAncestorOf(commit: string, git: Git): Promise<boolean> {
  return (await git(['merge-base', '--is-ancestor', 'HEAD', commit])).code === 0
}

/**
 * Opens git for questions about the repository of a folder; null without a usable one.
 *
 * @returns the folder relative to the top of the work tree, `.` for the top
 */
async function openQueries(root: string, env: Env): Promise<{ git: Git; folder: string } | null> {
  try {
    const place = openPlace(root, env)
    if (place === null) return null
    const { createLibraryGit } = await import('./library-git.ts')
    // A partial clone does not ask its remote for a commit that it lacks.
    const quiet = { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_ALLOW_PROTOCOL: 'none' }
    const folder = relative(place.workTree, resolveLinks(root)) || '.'
    return { git: createLibraryGit(place, quiet), folder }
  } catch (error) {
    if (error instanceof EdgewiseError) return null
    throw error
  }
}
