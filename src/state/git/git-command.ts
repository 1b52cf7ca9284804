import { EdgewiseError } from '../../model/edgewise-error.ts'

/** What came of a git process. */
export interface GitResult {
  code: number
  out: Buffer
  err: string
}

/**
 * Runs git with these arguments; a code other than 0 is a result.
 *
 * @throws EdgewiseError `unavailable` when there is no git
 */
export type Git = (args: string[], input?: string, timeoutMs?: number) => Promise<GitResult>

/** Two ways to run git in a repository. */
export interface Gits {
  /** For commands that may be repeated after an interrupt. */
  queries: Git
  /** For commands that an interrupt of our process group may not end. */
  updates: Git
}

/** One attempt to run git. `interrupted`: a signal of somebody else ended the process. */
export interface GitAttempt extends GitResult {
  interrupted: boolean
}

const maxAttempts = 3

/** Runs git, and repeats it when it was interrupted. */
export async function repeatInterrupted(attempt: () => Promise<GitAttempt>): Promise<GitResult> {
  for (let number = 1; ; number++) {
    const { interrupted, ...result } = await attempt()
    if (!interrupted || number === maxAttempts) return result
  }
}

/** Formats what git printed for a message, without the credentials that an address may hold. */
export function formatGitError({ err }: GitResult): string {
  const lines = err
    .replace(/\/\/[^/@\s]+@/g, '//')
    .split('\n')
    .map((line) => line.replace(/^(fatal|error|remote): /, '').trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'))
  return lines.slice(0, 3).join('; ') || 'git said nothing'
}

/** The message of a process that was given up. */
export function noAnswerIn(timeoutMs: number): string {
  return `no answer in ${timeoutMs / 1000} s`
}

/** The error of a machine without git. */
export function noGit(): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    'the program git is not installed',
    'Install git, or keep the record in a folder: "state: {store: dir}".',
  )
}
