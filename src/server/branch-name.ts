import { EdgewiseError } from '../model/edgewise-error.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { isCommitId } from './address.ts'

/** Branches of a remote: the commit of each, and the branch of its HEAD. */
export interface RemoteBranches {
  head: string | null
  tips: Map<string, string>
}

/**
 * Refuses a name that no branch can have, by the rules of `git check-ref-format --branch`.
 *
 * @throws EdgewiseError `usage`
 */
export function checkBranchName(name: string): void {
  const isValid =
    /^[^\p{Cc} ~^:?*[\\]+$/u.test(name) &&
    !/^[-/]|\/$|\/\/|\.\.|@\{|\.$/.test(name) &&
    name.split('/').every((step) => !step.startsWith('.') && !step.endsWith('.lock')) &&
    name !== 'HEAD'
  if (isValid) return
  throw new EdgewiseError(
    'usage',
    `"${escapeInvisible(name)}" can't be the name of a branch`,
    'Pass the name as "git branch --remotes" prints it, without the name of the remote.',
  )
}

/** Parses the output of `git ls-remote --symref ADDRESS HEAD refs/heads/*`. */
export function parseBranches(lines: string[]): RemoteBranches {
  const branches: RemoteBranches = { head: null, tips: new Map() }
  for (const line of lines) {
    const [, value = '', ref = ''] = /^([^\t]*)\t([^\t]*)$/.exec(line) ?? []
    const prefix = 'refs/heads/'
    if (ref === 'HEAD' && value.startsWith(`ref: ${prefix}`))
      branches.head = value.slice(`ref: ${prefix}`.length)
    if (ref.startsWith(prefix) && isCommitId(value))
      branches.tips.set(ref.slice(prefix.length), value)
  }
  return branches
}

/**
 * Chooses the branch to follow.
 *
 * @param name null for the branch of the remote's HEAD
 * @throws EdgewiseError `unavailable` if the remote has no such branch, `usage` for a name that no
 *   branch can have
 */
export function chooseBranch(
  name: string | null,
  branches: RemoteBranches,
  location: string,
): { name: string; tip: string } {
  const chosen = name ?? branches.head
  if (chosen !== null) checkBranchName(chosen)
  const tip = chosen === null ? undefined : branches.tips.get(chosen)
  if (chosen !== null && tip !== undefined) return { name: chosen, tip }
  const names = [...branches.tips.keys()].map((each) => escapeInvisible(each))
  throw new EdgewiseError(
    'unavailable',
    chosen === null
      ? `the repository ${location} has no HEAD that names a branch`
      : `the repository ${location} has no branch ${chosen}`,
    names.length === 0
      ? 'It has no branch at all: push one.'
      : `Its branches: ${listSome(names, 5)}. Push the branch, or pass another with --branch NAME.`,
  )
}
