import { resolve } from 'node:path'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { createDetachedGit } from './detached-git.ts'
import { formatGitError, type Git, type GitResult, type Gits } from './git-command.ts'
import { createRemote } from './git-remote.ts'
import type { Changes, GitRepository } from './git-repository.ts'
import { isInsideRepository } from './inside-repository.ts'

/**
 * The repository that a folder lies in, or null where there is none.
 *
 * @param remote name of the remote; one that the repository does not have leaves `remote` null
 * @param now wall clock, ms; dates commits
 * @throws EdgewiseError `unavailable` when git can't be run or refuses to look at the folder
 */
export async function openGit(
  folder: string,
  remote: string,
  env: Record<string, string>,
  now: () => number,
): Promise<GitRepository | null> {
  const { createLibraryGit } = await import('./library-git.ts')
  const here = createLibraryGit(folder, env)
  const there = await here(['rev-parse', '--git-common-dir', '--show-object-format', '--show-cdup'])
  if (there.code !== 0) {
    if (/not a git repository/i.test(there.err)) return null
    throw new EdgewiseError(
      'unavailable',
      `git can't work in ${folder}: ${formatGitError(there)}`,
      'Mend that, or keep the record in a folder: "state: {store: dir}".',
    )
  }
  const [common = '', format = 'sha1', up = ''] = lines(there.out)
  const home = resolve(folder, common)
  // Where git itself goes: an address of a remote may be relative to that.
  const top = resolve(folder, up)
  const inHome = { ...env, GIT_DIR: home }
  const named = remote.replaceAll('.', '\\.')
  const wanted = `^(core\\.sshcommand|remote\\.(${named}\\.url|.*\\.promisor))$`
  const settings = lines(
    (await createLibraryGit(top, inHome)(['config', '--get-regexp', wanted])).out,
  )
  const known = settings.some((line) => line.startsWith(`remote.${remote}.url `))
  const partial = settings.some((line) => line.endsWith('.promisor true'))
  const quiet = withQuietSsh(inHome, settings)
  const gits = { queries: createLibraryGit(top, quiet), updates: createDetachedGit(top, quiet) }
  return repositoryOf(
    gits,
    home,
    known ? remote : null,
    partial,
    format === 'sha256' ? 64 : 40,
    now,
  )
}

/**
 * Finds the commit that is checked out where a folder is; null outside of a repository, where git
 * is not run at all, and where git has no answer or is not there.
 */
export async function findHeadCommit(
  folder: string,
  env: Record<string, string>,
): Promise<string | null> {
  if (!isInsideRepository(folder)) return null
  try {
    const { createLibraryGit } = await import('./library-git.ts')
    const { code, out } = await createLibraryGit(folder, env)(['rev-parse', '--verify', 'HEAD'])
    return code === 0 ? (lines(out)[0] ?? null) : null
  } catch (error) {
    if (error instanceof EdgewiseError) return null
    throw error
  }
}

const noRemote = () =>
  Promise.reject(new TypeError('expected a remote to be there before it is asked for'))
const alone = { fetch: noRemote, push: noRemote, findLastSeen: noRemote }

function repositoryOf(
  gits: Gits,
  commonFolder: string,
  remote: string | null,
  partial: boolean,
  idLength: number,
  now: () => number,
): GitRepository {
  const { queries: git, updates } = gits
  const nothing = '0'.repeat(idLength)
  const findTip = async (ref: string) =>
    (await answer(git, ['for-each-ref', '--format=%(refname) %(objectname)', ref]))
      .map((line) => line.split(' '))
      .find(([name]) => name === ref)?.[1] ?? null
  let checked = ''
  let who: Promise<string> | null = null
  return {
    commonFolder,
    remote,
    findTip,
    ...(remote === null ? alone : createRemote(gits, remote, findTip)),
    findMergeBase: async (one, other) => {
      const found = await git(['merge-base', one, other])
      if (found.code > 1) throw failed(['merge-base'], found)
      return lines(found.out)[0] ?? null
    },
    loadFiles: async (commit, path) => {
      if (partial) await bring(git, commit, path)
      return filesOf(git, commit, path)
    },
    findId: async (commit, path) => {
      const [entry] = await treeOf(git, ['--full-tree', commit, '--', path])
      return entry === undefined ? null : `${entry.type} ${entry.id}`
    },
    commit: async (parent, changes, message) => {
      who ??= identity(git)
      const stream = importStream(
        parent,
        changes,
        message,
        `${await who} ${Math.floor(now() / 1000)} +0000`,
        nothing,
      )
      const [id] = await answer(
        updates,
        ['fast-import', '--quiet', '--done', '--date-format=raw'],
        stream,
      )
      return id ?? ''
    },
    move: async (ref, from, to) => {
      if (ref.startsWith('refs/heads/') && checked !== ref) await refuseCheckedOut(git, ref)
      checked = ref
      const args =
        to === null
          ? ['update-ref', '-d', ref, from ?? nothing]
          : ['update-ref', '-m', 'edgewise', ref, to, from ?? nothing]
      const done = await updates(args)
      if (done.code === 0) return true
      if ((await findTip(ref)) !== from) return false
      throw failed(args, done)
    },
  }
}

/**
 * A clone without all files would ask its remote for each one by itself; a comparison asks for all
 * of them at once.
 */
async function bring(git: Git, commit: string, path: string): Promise<void> {
  const [nothing = ''] = await answer(git, ['hash-object', '-t', 'tree', '--stdin'])
  await answer(git, ['diff-tree', '-r', '--numstat', nothing, commit, '--', path])
}

async function filesOf(git: Git, commit: string, path: string): Promise<Map<string, string>> {
  const entries = await treeOf(git, ['-r', '--full-tree', commit, '--', path])
  if (entries.length === 0) return new Map()
  const { out, ...rest } = await git(
    ['cat-file', '--batch'],
    `${entries.map(({ id }) => id).join('\n')}\n`,
  )
  if (rest.code !== 0) throw failed(['cat-file'], { out, ...rest })
  const found = new Map<string, string>()
  let at = 0
  for (const { id, path: name } of entries) {
    const end = out.indexOf(10, at)
    const [, type, size] = out.toString('latin1', at, end).split(' ')
    if (type !== 'blob' || size === undefined) {
      throw new EdgewiseError(
        'record-damaged',
        `${name} of commit ${commit} can't be read: the repository lacks ${id}`,
        'Run "git fsck" to see what is wrong with the repository.',
      )
    }
    found.set(name, out.toString('utf8', end + 1, end + 1 + Number(size)))
    at = end + 1 + Number(size) + 1
  }
  return found
}

/** What `git ls-tree` lists: `<mode> <type> <id>\t<path>`. */
async function treeOf(
  git: Git,
  args: string[],
): Promise<{ type: string; id: string; path: string }[]> {
  return (await answer(git, ['ls-tree', '-z', ...args], '', '\0')).map((line) => {
    const tab = line.indexOf('\t')
    const [, type = '', id = ''] = line.slice(0, tab).split(' ')
    return { type, id, path: line.slice(tab + 1) }
  })
}

/**
 * A commit as `git fast-import` reads it, and the question for its id. The ref that it needs is
 * never made.
 */
function importStream(
  parent: string | null,
  changes: Changes,
  message: string,
  who: string,
  nothing: string,
): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const ref = 'refs/edgewise/unborn'
  const files = [...changes].map(([path, change]) => {
    if (change === null) return `D ${path}\n`
    if (typeof change === 'string') return `M 100644 inline ${path}\n${data(change)}`
    const [type, id] = change.id.split(' ')
    return `M ${type === 'tree' ? '040000' : '100644'} ${id} ${path}\n`
  })
  const from = parent === null ? '' : `from ${parent}\n`
  return `commit ${ref}\nmark :1\ncommitter ${who}\n${data(message)}${from}${files.join('')}\nget-mark :1\nreset ${ref}\nfrom ${nothing}\n\ndone\n`
}

/** Whom git takes the user for; a name of our own where it takes them for nobody. */
async function identity(git: Git): Promise<string> {
  const known = await git(['var', 'GIT_COMMITTER_IDENT'])
  const [, who] =
    known.code === 0 ? (/^(.*<[^<>]*>) \d+ [+-]\d{4}$/.exec(lines(known.out)[0] ?? '') ?? []) : []
  return who ?? 'Edgewise <edgewise@localhost>'
}

/** A branch that somebody works on would seem to change under their hands. */
async function refuseCheckedOut(git: Git, ref: string): Promise<void> {
  const trees = await answer(git, ['worktree', 'list', '--porcelain'])
  const at = trees.indexOf(`branch ${ref}`)
  if (at < 0) return
  const place =
    trees
      .slice(0, at)
      .findLast((line) => line.startsWith('worktree '))
      ?.slice('worktree '.length) ?? 'a work tree'
  const branch = ref.replace('refs/heads/', '')
  throw new EdgewiseError(
    'usage',
    `the branch ${branch}, which holds the record, is checked out in ${place}`,
    'Switch to another branch there ("git switch -"), and run the same command again.',
  )
}

/** Tells ssh never to ask, unless the environment or git's settings choose an ssh command. */
function withQuietSsh(env: Record<string, string>, settings: string[]): Record<string, string> {
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return env
  const set = settings.some((line) => /^core\.sshcommand( |$)/.test(line))
  return set ? env : { ...env, GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' }
}

async function answer(git: Git, args: string[], input = '', separator = '\n'): Promise<string[]> {
  const result = await git(args, input)
  if (result.code !== 0) throw failed(args, result)
  return lines(result.out, separator)
}

function lines(out: Buffer, separator = '\n'): string[] {
  return out
    .toString('utf8')
    .split(separator)
    .filter((line) => line !== '')
}

function failed(args: string[], result: GitResult): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    `git ${args[0] ?? ''} failed: ${formatGitError(result)}`,
    'Nothing more was recorded. Mend the repository ("git fsck"), and run the same command again.',
  )
}
