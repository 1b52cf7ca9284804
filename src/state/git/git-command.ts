import { explainFailure } from '../../files/explain-failure.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'

/** Result of a git process. */
export interface GitResult {
  code: number
  out: Buffer
  err: string
}

/**
 * Runs git with these arguments. A code other than 0 is a result, not an error.
 *
 * @throws EdgewiseError `unavailable` if git is not installed
 */
export type Git = (args: string[], input?: string) => Promise<GitResult>

/** Watches a git process. */
export interface GitWatch {
  /** Aborted to kill it, with all that it started. */
  signal: AbortSignal
  /** Called at each output, with its number of bytes. */
  onOutput(bytes: number): void
}

/** Runs git like `Git`, with a watch. */
export type WatchedGit = (args: string[], input?: string, watch?: GitWatch) => Promise<GitResult>

/** Three ways to run git in the same repository. */
export interface Gits {
  /** For commands that may be repeated after an interrupt. */
  queries: Git
  /** For commands that must survive an interrupt of our process group. */
  updates: Git
  /** For commands that reach a remote, which may hang. */
  network: Git
}

/** One attempt to run git. `interrupted`: a signal from outside Edgewise ended the process. */
export interface GitAttempt extends GitResult {
  interrupted: boolean
}

const maxAttempts = 3

/** Runs git, and repeats it after an interrupt. */
export async function repeatInterrupted(attempt: () => Promise<GitAttempt>): Promise<GitResult> {
  for (let number = 1; ; number++) {
    const { interrupted, ...result } = await attempt()
    if (!interrupted || number === maxAttempts) return result
  }
}

/** Removes secrets from what git prints on stderr, but for echoes of its arguments. */
export function scrubErrors<T extends unknown[]>(
  git: (args: string[], ...others: T) => Promise<GitResult>,
  scrub: SecretHider['scrub'],
): (args: string[], ...others: T) => Promise<GitResult> {
  return async (args, ...others) => {
    const result = await git(args, ...others)
    return { ...result, err: scrub(markForeign(result.err), args) }
  }
}

/** Removes credentials from the addresses in a text. */
export function hideCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]+@/g, '//')
}

/** Lines of git about its progress. */
const progress = /: +\d+% |, done\.$|^Total \d+ |^Delta compression using |^fast-import: dumping /

/** Lines that git adds to every failure of ssh. */
const noAccess = 'Could not read from remote repository.'
const access = /^(Please make sure you have the correct access rights|and the repository exists\.)$/

/**
 * Formats git's error output for a message, without progress, credentials in addresses, frames of
 * ssh's warnings, and advice.
 */
export function formatGitError({ err }: GitResult): string {
  const lines = hideCredentials(err)
    .split(/[\n\r]/)
    .map((line) => line.replace(/^(fatal|error|remote): |^@+|(?<!@)@+$/g, '').trim())
    .filter((line) => line !== '' && !line.startsWith('hint:') && !progress.test(line))
    .filter((line) => !access.test(line))
  const causes = lines.filter((line) => line !== noAccess)
  return (causes.length > 0 ? causes : lines).slice(0, 3).join('; ') || 'git printed no error'
}

/** Creates the error for a machine without git. */
export function createNoGitError(): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    'the program git is not installed',
    'Install git, or store the state in a folder: "state: {store: dir}".',
  )
}

/**
 * Runs git and returns its output lines, without empty ones.
 *
 * @throws EdgewiseError `unavailable` if git fails
 */
export async function runForLines(
  git: Git,
  args: string[],
  input = '',
  separator = '\n',
): Promise<string[]> {
  const result = await git(args, input)
  if (result.code !== 0) throw createGitError(args, result)
  return splitLines(result.out, separator)
}

/** Splits git's output into lines, without empty ones. */
export function splitLines(out: Buffer, separator = '\n'): string[] {
  return out
    .toString('utf8')
    .split(separator)
    .filter((line) => line !== '')
}

/** Creates the error for a failed git command. */
export function createGitError(args: string[], result: GitResult): EdgewiseError {
  const cause = explainFailure(result.err)
  const advice = cause === null ? 'Repair the repository ("git fsck")' : 'Fix the cause'
  return new EdgewiseError(
    'unavailable',
    `git ${args[0] ?? ''} failed: ${cause === null ? '' : `${cause}: `}${formatGitError(result)}`,
    `Nothing more was recorded. ${advice}, then run the same command again.`,
  )
}
