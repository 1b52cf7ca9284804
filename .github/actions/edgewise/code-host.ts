/**
 * Tells a code host what Edgewise found: one comment on a pull request that is kept up to date, or
 * one issue that is open while there is drift. It runs as it is written on Node 22.18 and newer,
 * without any package.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where to speak, and as whom. */
export interface CodeHost {
  /** Address of the interface, e.g. `https://api.github.com`. */
  api: string
  /** `owner/name`. */
  repository: string
  token: string
  /** The account that the token speaks for; comments and issues of others are never touched. */
  author: string
}

interface Post {
  id: number
  number: number
  body: string | null
  user: { login: string } | null
  pull_request?: unknown
}

const mostCharacters = 65_536
const mostPages = 100
const pageSize = 100
const commentMark = '<!-- edgewise:plan -->'
const issueMark = '<!-- edgewise:drift -->'
const title = 'Configuration drift'

/**
 * Writes the comment of a pull request, or brings the one that is there up to date. Says what it
 * did.
 */
export async function keepComment(
  host: CodeHost,
  pullRequest: number,
  text: string,
): Promise<'created' | 'updated' | 'unchanged'> {
  const body = bodyOf(commentMark, text)
  const own = (await ownPosts(host, `issues/${pullRequest}/comments`, commentMark))[0]
  if (own === undefined) {
    await call(host, 'POST', `issues/${pullRequest}/comments`, { body })
    return 'created'
  }
  if (own.body === body) return 'unchanged'
  await call(host, 'PATCH', `issues/comments/${own.id}`, { body })
  return 'updated'
}

/**
 * Opens the issue about drift, brings it up to date, or closes it when nothing differs any more.
 * Says what it did.
 */
export async function keepIssue(
  host: CodeHost,
  differs: boolean,
  text: string,
): Promise<'opened' | 'updated' | 'closed' | 'unchanged'> {
  const body = bodyOf(issueMark, text)
  const found = await ownPosts(host, 'issues?state=open&sort=created&direction=asc', issueMark)
  const [own] = found.filter((post) => post.pull_request === undefined)
  if (own === undefined) {
    if (!differs) return 'unchanged'
    await call(host, 'POST', 'issues', { title, body })
    return 'opened'
  }
  if (!differs) {
    await call(host, 'PATCH', `issues/${own.number}`, {
      body,
      state: 'closed',
      state_reason: 'completed',
    })
    return 'closed'
  }
  if (own.body === body) return 'unchanged'
  await call(host, 'PATCH', `issues/${own.number}`, { body })
  return 'updated'
}

/** A mark that is not seen, and the text as far as there is room. */
function bodyOf(mark: string, text: string): string {
  return `${mark}\n${text}`.slice(0, mostCharacters - 1)
}

/**
 * Posts of this account that begin with the mark: anybody may write the mark, and nobody's words
 * are overwritten.
 */
async function ownPosts(host: CodeHost, path: string, mark: string): Promise<Post[]> {
  const found: Post[] = []
  for (let page = 1; page <= mostPages; page++) {
    const posts = await call(
      host,
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}&page=${page}`,
    )
    if (!Array.isArray(posts))
      throw new Error(`${host.repository}: expected a list from ${path}, got something else`)
    found.push(
      ...(posts as Post[]).filter(
        ({ body, user }) => user?.login === host.author && body?.startsWith(mark) === true,
      ),
    )
    if (posts.length < pageSize) break
  }
  return found
}

async function call(
  { api, repository, token }: CodeHost,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${api}/repos/${repository}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'user-agent': 'edgewise',
      'x-github-api-version': '2022-11-28',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) {
    const hint =
      response.status === 403 || response.status === 404
        ? ' Does the job have the permission to write it?'
        : ''
    throw new Error(
      `${method} ${repository}/${path} was answered with HTTP ${response.status}.${hint}`,
    )
  }
  return JSON.parse(text) as unknown
}

/** What the environment of the action asks for. */
export async function main(env: Record<string, string | undefined>): Promise<string> {
  const needed = (name: string): string => {
    const value = env[name]
    if (value === undefined || value === '') throw new Error(`expected ${name} to be set`)
    return value
  }
  const host: CodeHost = {
    api: needed('GITHUB_API_URL'),
    repository: needed('GITHUB_REPOSITORY'),
    token: needed('CODE_HOST_TOKEN'),
    author: needed('AUTHOR'),
  }
  const text = readFileSync(needed('REPORT'), 'utf8')
  if (needed('COMMAND') === 'issue') {
    const differs = needed('DIFFERS')
    if (differs !== 'true' && differs !== 'false')
      throw new Error(`expected DIFFERS to be true or false, got "${differs}"`)
    return `issue ${await keepIssue(host, differs === 'true', text)}`
  }
  const number = needed('PULL_REQUEST')
  if (!/^[1-9]\d{0,9}$/.test(number))
    throw new Error(`expected the number of a pull request, got "${number}"`)
  return `comment ${await keepComment(host, Number(number), text)}`
}

/** Why a call never got an answer; the message of fetch says only that it failed. */
function causeOf({ cause }: Error): string {
  return cause instanceof Error
    ? ` (${(cause as NodeJS.ErrnoException).code ?? cause.message})`
    : ''
}

const started = process.argv[1]
// A runner may keep actions behind a link.
if (started !== undefined && realpathSync(started) === fileURLToPath(import.meta.url)) {
  try {
    console.log(await main(process.env))
  } catch (error) {
    const message = error instanceof Error ? `${error.message}${causeOf(error)}` : String(error)
    console.log(
      `::error::${message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`,
    )
    process.exitCode = 1
  }
}
