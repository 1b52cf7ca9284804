import { resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { parseUrl } from '../model/parse-url.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { hideCredentials } from '../state/git/git-command.ts'

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
