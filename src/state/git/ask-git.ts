import { throwDefect } from '../../core/model/edgewise-error.ts'
import { splitLines, type Git } from './git-command.ts'
import { openQueries } from './open-queries.ts'
import { parseUrl } from '../../core/model/text/url.ts'

/**
 * Asks git in a folder, and returns the first line of its answer. Null without one, a usable
 * repository or git, and without running git outside of a repository.
 */
export async function askGit(
  folder: string,
  env: Record<string, string>,
  ...question: string[]
): Promise<string | null> {
  const opened = await openQueries(folder, env)
  return opened && findLine(opened.git, question)
}

/** Runs git and returns the first line of its output; null if git fails or is not installed. */
export async function findLine(git: Git, args: string[]): Promise<string | null> {
  try {
    const { code, out } = await git(args)
    return code === 0 ? (splitLines(out)[0] ?? null) : null
  } catch (error) {
    throwDefect(error)
    return null
  }
}

/**
 * Finds the name of a repository by its remote, such as `git.example.com/team/cdn`: the same over
 * https and ssh, without a user. Null without a remote on another machine, a usable repository or
 * git.
 */
export async function findRemoteName(
  folder: string,
  remote: string,
  env: Record<string, string>,
): Promise<string | null> {
  const address = await askGit(folder, env, 'remote', 'get-url', remote)
  return address === null ? null : parseRemoteName(address)
}

/** Parses the address of a remote: host and path. Null for a folder. */
export function parseRemoteName(address: string): string | null {
  const [, host = '', path = ''] = /^(?:[^@/]+@)?([^:/@]{2,}):(?!\/\/)(.+)$/.exec(address) ?? []
  const url = host === '' ? parseUrl(address) : null
  const [name, below] = url === null ? [host, path] : [url.hostname, url.pathname]
  if (name === '' || url?.protocol === 'file:') return null
  const steps = below.split('/').filter((step) => step !== '')
  return [name, ...steps]
    .join('/')
    .replace(/\.git$/, '')
    .toLowerCase()
}
