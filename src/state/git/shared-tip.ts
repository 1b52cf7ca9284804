import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import type { GitRepository } from './git-repository.ts'

/** Names of the refs of this clone that remember the last seen commit of a remote's branch. */
function listSeenRefs(remote: string, ref: string): [own: string, ofGit: string] {
  const branch = ref.replace(/^refs\/heads\//, '')
  return [`refs/edgewise/fetched/${remote}/heads/${branch}`, `refs/remotes/${remote}/${branch}`]
}

/** Commits of the state's branch in this repository and on the remote; null without a branch. */
interface Tips {
  local: string | null
  shared: string | null
}

/**
 * Finds the commit of the state's branch in this repository, and fetches that on the remote. The
 * branch only ever grows, so the latter must descend from every commit that this clone has seen.
 *
 * @param known a commit that this process knows from the remote, or null
 * @throws EdgewiseError `state-rewound` if the branch was deleted or set back
 */
export async function fetchTips(
  git: GitRepository,
  ref: string,
  known: string | null = null,
): Promise<Tips> {
  const refs = [ref, ...listSeenRefs(git.remote ?? '', ref)]
  for (;;) {
    // Before the fetch: another process of this clone may see a newer commit meanwhile.
    const [local = null, remembered = null, ofGit = null] = await git.findTips(refs)
    const seen = remembered ?? ofGit
    const shared = await git.fetch(ref, remembered)
    for (const commit of [seen, known]) await refuseRewound(git, ref, commit, shared)
    if (shared === remembered || shared === null) return { local, shared }
    if (await rememberSeen(git, ref, remembered, shared)) return { local, shared }
  }
}

/**
 * Remembers a commit of the branch as the last one that this clone has seen on the remote. A clone
 * that can't be changed remembers nothing.
 *
 * @param before the one remembered so far
 * @returns false if another process of this clone has remembered another one meanwhile
 */
export async function rememberSeen(
  git: GitRepository,
  ref: string,
  before: string | null,
  commit: string,
): Promise<boolean> {
  const [own] = listSeenRefs(git.remote ?? '', ref)
  try {
    return await git.move(own, before, commit)
  } catch (error) {
    throwDefect(error)
    return true
  }
}

/**
 * Refuses to write on top of a commit that lacks others that this clone has seen on the remote
 * since, if the branch was set back to it. Otherwise the write loses the race against them.
 *
 * @throws EdgewiseError `state-rewound`
 */
export async function refuseOlder(
  git: GitRepository,
  ref: string,
  commit: string | null,
): Promise<void> {
  const [own] = listSeenRefs(git.remote ?? '', ref)
  const seen = await git.findTip(own)
  if (seen === null || seen === commit) return
  if (commit !== null && (await git.findMergeBase(seen, commit)) === seen) return
  await fetchTips(git, ref)
}

/**
 * Refuses a branch that was deleted or set back: it lacks a commit that it had.
 *
 * @param seen the commit that it had; null if it had none
 * @param now its commit; null if it was deleted
 * @throws EdgewiseError `state-rewound`, with both commits and the ways out
 */
export async function refuseRewound(
  git: GitRepository,
  ref: string,
  seen: string | null,
  now: string | null,
): Promise<void> {
  if (seen === null || seen === now) return
  const base = now === null ? null : await git.findMergeBase(seen, now)
  if (base === seen) return
  const branch = ref.replace(/^refs\/heads\//, '')
  const where = `the branch ${branch} of ${git.remote ?? 'this repository'}`
  throw new EdgewiseError(
    'state-rewound',
    now === null
      ? `${where} was deleted; the last commit that this clone has seen of it is ${seen}`
      : `${where} was set back: its commit ${now} does not contain ${seen}, which this clone ` +
          'has seen',
    await describeWaysOut(git, ref, seen, now, base),
  )
}

/** Describes the git commands that restore the newer state, or accept the older one. */
async function describeWaysOut(
  git: GitRepository,
  ref: string,
  seen: string,
  now: string | null,
  base: string | null,
): Promise<string> {
  const { remote } = git
  const what = now === null ? 'start with empty state' : 'accept the older state'
  if (remote === null)
    return formatCommands('To restore the newer state, run:', [`git update-ref ${ref} ${seen}`])
      .concat(`To ${what}, run the same command again.`)
      .join('\n')
  const lease = now === null || base === now ? '' : `--force-with-lease=${ref}:${now} `
  return [
    ...formatCommands('To restore the newer state, run in the clone that has seen the newest:', [
      `git push ${lease}${remote} ${seen}:${ref}`,
    ]),
    ...formatCommands(`To ${what}, run:`, await listAcceptCommands(git, remote, ref, now)),
  ].join('\n')
}

/** Formats commands below a sentence, each on a line of its own for copying. */
function formatCommands(sentence: string, commands: string[]): string[] {
  return [sentence, ...commands.map((command) => `  ${command}`)]
}

/** Lists the commands after which this clone continues with the commit of the remote. */
async function listAcceptCommands(
  git: GitRepository,
  remote: string,
  ref: string,
  now: string | null,
): Promise<string[]> {
  const [own, ofGit] = listSeenRefs(remote, ref)
  const branch = ref.replace(/^refs\/heads\//, '')
  const [local = null, ...marks] = await git.findTips([ref, own, ofGit])
  // Commits of the local branch that the remote lacks would count as outcomes to share.
  const isAhead =
    local !== null && (now === null || (await git.findMergeBase(local, now)) !== local)
  const aside =
    local === null || !isAhead ? [] : [`git branch -m ${branch} ${branch}-${local.slice(0, 12)}`]
  if (now !== null) return [...aside, `git update-ref ${own} ${now}`]
  const seen = [own, ofGit].filter((_, i) => marks[i] !== null)
  return [...aside, ...seen.map((name) => `git update-ref -d ${name}`)]
}
