import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { createCommitReader } from './commit-reader.ts'
import {
  createGitError,
  runForLines,
  splitLines,
  type Git,
  type Gits,
  formatGitError,
} from './git-command.ts'
import type { Changes, GitRepository } from './git-repository.ts'
import { adviseRemote } from './advise-remote.ts'

/** Properties of an opened repository. */
interface Properties {
  commonFolder: string
  remote: string | null
  /** Whether the clone lacks objects and fetches them on demand. */
  isPartial: boolean
  /** Whether the clone lacks the history before some commits. */
  isShallow: boolean
  /** Length of an object id: 40 or 64. */
  idLength: number
  /** Wall clock for commit dates, ms. */
  now: () => number
}

const rejectWithoutRemote = () =>
  Promise.reject(new TypeError('expected the repository to have the remote'))
const withoutRemote = {
  fetch: rejectWithoutRemote,
  push: rejectWithoutRemote,
}

/** Creates the operations on an opened repository. */
export function createRepository(
  gits: Gits,
  { commonFolder, remote, isPartial, isShallow, idLength, now }: Properties,
): GitRepository {
  const { queries: git, updates } = gits
  // A partial clone fetches missing objects on demand, from a remote that may hang.
  const [readObjects, addObjects] = isPartial ? [gits.network, gits.network] : [git, updates]
  const nullId = '0'.repeat(idLength)
  const findTips = async (refs: string[]) => {
    const lines = await runForLines(git, [
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      ...refs,
    ])
    const found = new Map(lines.map((line) => line.split(' ') as [string, string]))
    return refs.map((ref) => found.get(ref) ?? null)
  }
  const findTip = async (ref: string) => (await findTips([ref]))[0] ?? null
  let committer: Promise<string> | null = null
  return {
    commonFolder,
    remote,
    findTip,
    findTips,
    ...(remote === null ? withoutRemote : createRemote(gits, remote, isShallow)),
    findMergeBase: async (one, other) => {
      const found = await readObjects(['merge-base', one, other])
      if (found.code > 1) throw createGitError(['merge-base'], found)
      return splitLines(found.out)[0] ?? null
    },
    ...createCommitReader(readObjects, isPartial),
    commit: async (parent, changes, message) => {
      committer ??= findCommitter(git)
      const stream = buildImportStream(
        parent,
        changes,
        message,
        `${await committer} ${Math.floor(now() / 1000)} +0000`,
        nullId,
      )
      const [id] = await runForLines(
        addObjects,
        ['fast-import', '--quiet', '--done', '--date-format=raw'],
        stream,
      )
      return id ?? ''
    },
    refuseCheckedOut: (ref) => refuseCheckedOut(git, ref),
    move: async (ref, from, to) => {
      const args =
        to === null
          ? ['update-ref', '-d', ref, from ?? nullId]
          : ['update-ref', '-m', 'edgewise', ref, to, from ?? nullId]
      const done = await updates(args)
      if (done.code === 0) return true
      if ((await findTip(ref)) !== from) return false
      throw createGitError(args, done)
    },
  }
}

/**
 * Builds the input of `git fast-import` for a commit and a query for its id. The ref in it is reset
 * at the end, so it is never created.
 */
function buildImportStream(
  parent: string | null,
  changes: Changes,
  message: string,
  committer: string,
  nullId: string,
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
  return (
    `commit ${ref}\nmark :1\ncommitter ${committer}\n${data(message)}${from}${files.join('')}\n` +
    `get-mark :1\nreset ${ref}\nfrom ${nullId}\n\ndone\n`
  )
}

/** Finds git's committer; a default name if git has none. */
async function findCommitter(git: Git): Promise<string> {
  const known = await git(['var', 'GIT_COMMITTER_IDENT'])
  const [, committer] =
    known.code === 0
      ? (/^(.*<[^<>]*>) \d+ [+-]\d{4}$/.exec(splitLines(known.out)[0] ?? '') ?? [])
      : []
  return committer ?? 'Edgewise <edgewise@localhost>'
}

/** Refuses a checked-out branch: its files would seem to be changed by the user. */
async function refuseCheckedOut(git: Git, ref: string): Promise<void> {
  const trees = await runForLines(git, ['worktree', 'list', '--porcelain'])
  const index = trees.indexOf(`branch ${ref}`)
  if (index < 0) return
  const workTree =
    trees
      .slice(0, index)
      .findLast((line) => line.startsWith('worktree '))
      ?.slice('worktree '.length) ?? 'a work tree'
  const branch = ref.replace('refs/heads/', '')
  throw new EdgewiseError(
    'usage',
    `the branch ${branch} contains the state, but is checked out in ${workTree}`,
    'Switch to another branch there ("git switch -"), then run the same command again.',
  )
}

/** Progress on stderr is the sign of life of a transfer. */
const transfer = ['--quiet', '--progress', '--no-recurse-submodules']
/** Options of a fetch that changes no ref, also not those that the user has configured. */
const withoutRefs = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap=']
/** Stores what is fetched as a whole, so that a killed fetch leaves no commit without its files. */
const asPack = ['-c', 'fetch.unpackLimit=1']
/** Completes the history of one branch: `--unshallow` would complete that of all. */
const wholeHistory = '--depth=1000000'

/**
 * Creates a repository's operations on a remote.
 *
 * @param isShallow whether the clone lacks the history before some commits
 */
function createRemote(
  { queries: git, network }: Gits,
  remote: string,
  isShallow: boolean,
): Pick<GitRepository, 'fetch' | 'push'> {
  const fetchObjects = (ref: string, ...options: string[]) =>
    network([...asPack, 'fetch', ...transfer, ...withoutRefs, ...options, remote, ref])
  const hasCommit = async (commit: string) =>
    (await git(['cat-file', '-e', `${commit}^{commit}`])).code === 0
  const fetch = async (ref: string, present: string | null = null) => {
    for (let attempt = 0; ; attempt++) {
      const listed = await network(['ls-remote', remote, ref])
      if (listed.code !== 0) throw createUnreachableError(remote, formatGitError(listed))
      const there = findListedCommit(ref, listed.out)
      if (there === null) return null
      const isHere = there === present || (await hasCommit(there))
      const fetched = isHere ? null : await fetchObjects(ref)
      if (fetched === null || (await hasCommit(there))) {
        if (!isShallow || !(await isCutOff(git, there))) return there
        const completed = await fetchObjects(ref, wholeHistory)
        if (completed.code !== 0) throw createUnreachableError(remote, formatGitError(completed))
        return there
      }
      // The ref may have moved between listing and fetch, but not three times in a row.
      if (attempt === 2) throw createUnreachableError(remote, formatGitError(fetched))
    }
  }
  return {
    fetch,
    push: async (ref, from, to) => {
      if (from === to) return (await fetch(ref)) === from
      const lease = `--force-with-lease=${ref}:${from ?? ''}`
      const options = ['--no-verify', '--no-follow-tags', '--no-signed', lease]
      // A mirror refuses a push of named refs.
      const settings = ['-c', `remote.${remote}.mirror=false`, '-c', 'push.pushOption=']
      const refspec = `${to ?? ''}:${ref}`
      const pushed = await network([...settings, 'push', ...transfer, ...options, remote, refspec])
      // The push may have taken effect although its answer was lost.
      const there = pushed.code === 0 ? to : await fetch(ref)
      if (there === to) return true
      if (there !== from) return false
      throw createUnreachableError(remote, formatGitError(pushed))
    },
  }
}

/**
 * Reports whether a shallow clone lacks a part of the history of a commit: git then hides the
 * parents of the first commits that it has, but their objects still name them.
 */
async function isCutOff(git: Git, commit: string): Promise<boolean> {
  const first = await runForLines(git, ['rev-list', '--max-parents=0', commit])
  const objects = await runForLines(git, ['cat-file', '--batch'], `${first.join('\n')}\n`)
  return objects.some((line) => /^parent [0-9a-f]+$/.test(line))
}

/** Finds this ref's commit in the output of `git ls-remote`, which also has longer names. */
function findListedCommit(ref: string, out: Buffer): string | null {
  const found = splitLines(out)
    .map((line) => line.split('\t'))
    .find(([, name]) => name === ref)
  return found?.[0] ?? null
}

function createUnreachableError(remote: string, reason: string): EdgewiseError {
  return new EdgewiseError(
    'record-unreachable',
    `the state on the remote ${remote} can't be reached or written: ${reason}`,
    adviseRemote(remote, reason),
  )
}
