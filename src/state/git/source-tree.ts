import { join, posix, relative, sep } from 'node:path'
import { exists } from '../../files/look.ts'
import { resolveLinks } from '../../files/is-inside.ts'
import type { SourceTree } from '../../core/model/source-tree.ts'
import { splitLines, type Git } from './git-command.ts'
import { openQueries } from './open-queries.ts'

type Env = Record<string, string>

/** Files that a workspace was loaded from. */
export interface SourceFiles {
  /** Folder of the workspace. */
  root: string
  /** Paths below it. */
  paths: string[]
  /** Tests whether the workspace would load a file at a path below its folder. */
  isSource(path: string): boolean
}

/** Longest author and subject that are kept, UTF-16. */
const maxText = 200

/** How a commit is related to the checked-out one. `unknown` in a shallow clone. */
export type Relation = 'contained' | 'later' | 'apart' | 'unknown'

/**
 * Finds the tree of a workspace's files: that of the checked-out commit, or one with uncommitted
 * changes. Files are compared by their bytes: otherwise git would start the filters that
 * `.gitattributes` names. A source that the commit has and the folder does not is a change; where
 * the commit has links, any YAML file may have been one.
 *
 * @param clean removes the secrets from a text
 * @returns no commit without a commit, a usable repository or git, and without running git outside
 *   of a repository
 */
export async function findSourceTree(
  files: SourceFiles,
  env: Env,
  clean: (text: string) => string,
): Promise<SourceTree> {
  const { root, paths, isSource } = files
  const opened = await openQueries(root, env)
  if (opened === null) return { commit: null }
  const { git, folder, top } = opened
  const head = await git(['rev-list', '--max-count=1', '--format=%an%x00%s', 'HEAD'])
  const [line, about = ''] = splitLines(head.out)
  const commit = line?.split(' ')[1]
  if (head.code !== 0 || commit === undefined) return { commit: null }
  const texts = about.split('\0').map((text) => clean(text).slice(0, maxText))
  const [author = '', subject = ''] = texts
  const within = folder === '.' ? [] : [folder]
  const listed = await git(['ls-tree', '-r', '-z', commit, '--', ...within])
  const committed = parseTree(listed.out)
  const hasLinks = /(^|\0)120000 /.test(listed.out.toString('latin1'))
  const own = paths.map((path) => findTracked(join(top, folder, path), top, committed))
  const hashed = await git(
    ['hash-object', '--no-filters', '--stdin-paths'],
    own.map((path) => `${path}\n`).join(''),
  )
  const ids = splitLines(hashed.out)
  const isSame =
    listed.code + hashed.code === 0 &&
    own.every((path, i) => committed.get(path) === ids[i]) &&
    [...committed.keys()].every(
      (path) =>
        !/\.ya?ml$/.test(path) ||
        exists(join(top, path)) ||
        !(hasLinks || isSource(posix.relative(folder, path))),
    )
  return isSame ? { commit, committed: { author, subject } } : { commit: null, onTopOf: commit }
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

/** Parses the list of a tree: path → id of its content. */
function parseTree(out: Buffer): Map<string, string> {
  return new Map(
    splitLines(out, '\0').map((line) => {
      const tab = line.indexOf('\t')
      return [line.slice(tab + 1), line.slice(0, tab).split(' ').at(-1) ?? '']
    }),
  )
}

/** Finds the path of a file in a tree: its own, or that of the file that it links to. */
function findTracked(path: string, top: string, tree: ReadonlyMap<string, string>): string {
  const spell = (absolute: string) => relative(top, absolute).split(sep).join('/')
  return tree.has(spell(path)) ? spell(path) : spell(resolveLinks(path))
}
