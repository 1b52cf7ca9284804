import { resolve } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { parseUrl } from '../../core/model/text/url.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { hideCredentials } from '../../state/git/git-command.ts'
import { listSome } from '../../core/model/text/words.ts'

const schemes = ['https:', 'http:', 'ssh:', 'git:', 'file:']

/**
 * Parses the address of a repository: a URL, `USER@HOST:PATH` for ssh, or a path.
 *
 * @param cwd folder from which a path is resolved
 * @returns what git gets, and the same without credentials
 * @throws EdgewiseError `usage` for anything else, such as an address that starts a program
 */
export function parseAddress(text: string, cwd: string): { address: string; location: string } {
  // Nothing of a refused address is printed: its credentials can't be separated from it.
  if (text === '' || escapeInvisible(text) !== text)
    throw refuse('is empty or has invisible characters')
  if (text.startsWith('-')) throw refuse('begins with "-"')
  if (/^[\w+.-]+::/.test(text)) throw refuse('names a program that git would start ("NAME::…")')
  if (/^[\w+.-]+:\/\//.test(text)) {
    const url = parseUrl(text)
    if (url === null || /\s/.test(text)) throw refuse('is not a valid URL')
    if (!schemes.includes(url.protocol)) throw refuse(`begins with "${url.protocol}"`)
    if (url.hostname.startsWith('-') || url.username.startsWith('-'))
      throw refuse('has a user or host that begins with "-"')
    return { address: text, location: hideCredentials(text) }
  }
  const [, host] = /^([^/:]*|[^/[]*\[[^/]*\]):/.exec(text) ?? []
  if (host === undefined) return { address: resolve(cwd, text), location: resolve(cwd, text) }
  if (!/^([\w.][\w.+-]*@)?[\w.[][\w.:[\]-]*$/.test(host)) throw refuse('has no valid host for ssh')
  return { address: text, location: text }
}

function refuse(fault: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `the address of the repository ${fault}`,
    'Pass https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, or the path of a repository.',
  )
}

/**
 * Parses the folder of a workspace in a repository; empty for the top folder.
 *
 * @throws EdgewiseError `usage` if it is not a relative path within the repository
 */
export function parseFolder(text: string): string {
  const steps = text.split('/').filter((step) => step !== '' && step !== '.')
  const isWithin = !text.startsWith('/') && steps.every((step) => !/^(\.\.|\.git)$/i.test(step))
  if (isWithin && !text.includes('\\') && escapeInvisible(text) === text) return steps.join('/')
  throw new EdgewiseError(
    'usage',
    `the folder ${escapeInvisible(text)} is not a path within the repository`,
    'Pass --folder with the path from the top of the repository to the folder of edgewise.yaml, ' +
      'such as "cdn/production".',
  )
}

/** Returns whether a text is the whole id of a commit. */
export function isCommitId(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

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
