import { EdgewiseError } from '../../model/edgewise-error.ts'
import { formatGitError, type Gits } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

const pushTimeoutMs = 60_000
const fetchTimeoutMs = 300_000
const quietly = ['--quiet', '--no-recurse-submodules']

/** What a repository does with a remote. `tip`: where a ref of the repository itself is. */
export function createRemote(
  { queries: git, updates }: Gits,
  remote: string,
  tip: GitRepository['findTip'],
): Pick<GitRepository, 'fetch' | 'push' | 'findLastSeen'> {
  const keptAs = (ref: string) => `refs/edgewise/fetched/${remote}/${ref.replace(/^refs\//, '')}`
  /**
   * Remembers where a branch was, as well as that can be done here; the lock's ref comes and goes.
   */
  const keep = async (ref: string, commit: string | null) => {
    if (commit !== null && ref.startsWith('refs/heads/'))
      await updates(['update-ref', keptAs(ref), commit])
  }
  const fetch = async (ref: string) => {
    const kept = keptAs(ref)
    for (let attempt = 0; ; attempt++) {
      const listed = await git(['ls-remote', remote, ref], '', pushTimeoutMs)
      if (listed.code !== 0) throw unreachable(remote, formatGitError(listed))
      const there = listedAs(ref, listed.out)
      if (there === null || (await tip(kept)) === there) return there
      if ((await git(['cat-file', '-e', there])).code === 0) {
        await keep(ref, there)
        return there
      }
      const options = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap=']
      const fetched = await git(
        ['fetch', ...quietly, ...options, remote, `+${ref}:${kept}`],
        '',
        fetchTimeoutMs,
      )
      const now = fetched.code === 0 ? await tip(kept) : null
      if (now !== null) return now
      // Taken away between the two looks, perhaps; but not again and again.
      if (attempt === 2) throw unreachable(remote, formatGitError(fetched))
    }
  }
  return {
    fetch,
    findLastSeen: async (ref) =>
      (await tip(keptAs(ref))) ??
      (await tip(ref.replace(/^refs\/heads\//, `refs/remotes/${remote}/`))),
    push: async (ref, from, to) => {
      if (from === to) return (await fetch(ref)) === from
      const lease = `--force-with-lease=${ref}:${from ?? ''}`
      const options = ['--no-verify', '--no-follow-tags', '--no-signed', lease]
      // A mirror pushes everything, or nothing by name.
      const settings = ['-c', `remote.${remote}.mirror=false`, '-c', 'push.pushOption=']
      const pushed = await updates(
        [...settings, 'push', ...quietly, ...options, remote, `${to ?? ''}:${ref}`],
        '',
        pushTimeoutMs,
      )
      // The answer may have been lost after it took effect.
      const there = pushed.code === 0 ? to : await fetch(ref)
      if (there === to) {
        await keep(ref, to)
        return true
      }
      if (there !== from) return false
      throw unreachable(remote, formatGitError(pushed))
    },
  }
}

/** The commit that `git ls-remote` names for exactly this ref; what it matches may end alike. */
function listedAs(ref: string, out: Buffer): string | null {
  const found = out
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([, name]) => name === ref)
  return found?.[0] ?? null
}

function unreachable(remote: string, said: string): EdgewiseError {
  return new EdgewiseError(
    'record-unreachable',
    `the record on the remote ${remote} can't be reached or written to: ${said}`,
    `Check "git fetch ${remote}" and the right to push branches and refs/edgewise/…; the record needs all of them.`,
  )
}
