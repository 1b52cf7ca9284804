import { EdgewiseError } from '../../model/edgewise-error.ts'
import { adviseRemote } from './advise-remote.ts'
import { formatGitError, runForLines, splitLines, type Git, type Gits } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

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
export function createRemote(
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
