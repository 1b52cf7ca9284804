import { EdgewiseError } from '../../model/edgewise-error.ts'
import { formatGitError, splitLines, type Gits } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

const pushTimeoutMs = 60_000
const fetchTimeoutMs = 300_000
const quietly = ['--quiet', '--no-recurse-submodules']

/** Creates a repository's operations on a remote. */
export function createRemote(
  { queries: git, updates }: Gits,
  remote: string,
  findTip: GitRepository['findTip'],
): Pick<GitRepository, 'fetch' | 'push' | 'findLastSeen'> {
  const buildTrackingRef = (ref: string) =>
    `refs/edgewise/fetched/${remote}/${ref.replace(/^refs\//, '')}`
  /** Records the last seen commit of a branch, and ignores a failure. The lock's ref has none. */
  const track = async (ref: string, commit: string | null) => {
    if (commit !== null && ref.startsWith('refs/heads/'))
      await updates(['update-ref', buildTrackingRef(ref), commit])
  }
  const fetch = async (ref: string) => {
    const tracking = buildTrackingRef(ref)
    for (let attempt = 0; ; attempt++) {
      const listed = await git(['ls-remote', remote, ref], '', pushTimeoutMs)
      if (listed.code !== 0) throw createUnreachableError(remote, formatGitError(listed))
      const there = findListedCommit(ref, listed.out)
      if (there === null || (await findTip(tracking)) === there) return there
      if ((await git(['cat-file', '-e', there])).code === 0) {
        await track(ref, there)
        return there
      }
      const options = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap=']
      const fetched = await git(
        ['fetch', ...quietly, ...options, remote, `+${ref}:${tracking}`],
        '',
        fetchTimeoutMs,
      )
      const now = fetched.code === 0 ? await findTip(tracking) : null
      if (now !== null) return now
      // The ref may have been deleted between listing and fetch, but not three times in a row.
      if (attempt === 2) throw createUnreachableError(remote, formatGitError(fetched))
    }
  }
  return {
    fetch,
    findLastSeen: async (ref) =>
      (await findTip(buildTrackingRef(ref))) ??
      (await findTip(ref.replace(/^refs\/heads\//, `refs/remotes/${remote}/`))),
    push: async (ref, from, to) => {
      if (from === to) return (await fetch(ref)) === from
      const lease = `--force-with-lease=${ref}:${from ?? ''}`
      const options = ['--no-verify', '--no-follow-tags', '--no-signed', lease]
      // A mirror refuses a push of named refs.
      const settings = ['-c', `remote.${remote}.mirror=false`, '-c', 'push.pushOption=']
      const pushed = await updates(
        [...settings, 'push', ...quietly, ...options, remote, `${to ?? ''}:${ref}`],
        '',
        pushTimeoutMs,
      )
      // The push may have taken effect although its answer was lost.
      const there = pushed.code === 0 ? to : await fetch(ref)
      if (there === to) {
        await track(ref, to)
        return true
      }
      if (there !== from) return false
      throw createUnreachableError(remote, formatGitError(pushed))
    },
  }
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
    `Check that "git fetch ${remote}" works and that you may push branches and refs/edgewise/…: ` +
      'the state needs both.',
  )
}
