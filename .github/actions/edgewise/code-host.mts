/**
 * Reports to a code host: one comment on a pull request that is kept up to date, or one issue that
 * is open while there is drift. Runs without a build on Node 22.18 and newer, without any package.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Repository and account to write with. */
export interface CodeHost {
  /** URL of the API, e.g. `https://api.github.com`. */
  api: string
  /** `owner/name`. */
  repository: string
  token: string
  /** Account of the token; comments and issues of others are never touched. */
  author: string
}

interface Post {
  id: number
  number: number
  body: string | null
  user: { login: string } | null
  pull_request?: unknown
}

const maxCharacters = 65_536
const maxPages = 100
const pageSize = 100
const commentMark = '<!-- edgewise:plan -->'
const issueMark = '<!-- edgewise:drift -->'
const title = 'Configuration drift'

/** Creates or updates the comment of a pull request. Returns what was done. */
export async function keepComment(
  host: CodeHost,
  pullRequest: number,
  text: string,
): Promise<'created' | 'updated' | 'unchanged'> {
  const body = buildBody(commentMark, text)
  const own = (await listOwnPosts(host, `issues/${pullRequest}/comments`, commentMark))[0]
  if (own === undefined) {
    await call(host, 'POST', `issues/${pullRequest}/comments`, { body })
    return 'created'
  }
  if (own.body === body) return 'unchanged'
  await call(host, 'PATCH', `issues/comments/${own.id}`, { body })
  return 'updated'
}

/** Opens, updates or closes the issue about drift. Returns what was done. */
export async function keepIssue(
  host: CodeHost,
  differs: boolean,
  text: string,
): Promise<'opened' | 'updated' | 'closed' | 'unchanged'> {
  const body = buildBody(issueMark, text)
  const found = await listOwnPosts(host, 'issues?state=open&sort=created&direction=asc', issueMark)
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

/** Joins the invisible mark and the text, truncated to the limit. */
function buildBody(mark: string, text: string): string {
  return `${mark}\n${text}`.slice(0, maxCharacters - 1)
}

/**
 * Lists posts of this account that begin with the mark. Posts of other accounts are ignored, since
 * anybody can write the mark.
 */
async function listOwnPosts(host: CodeHost, path: string, mark: string): Promise<Post[]> {
  const found: Post[] = []
  for (let page = 1; page <= maxPages; page++) {
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
        ? ' Check the write permission of the job.'
        : ''
    throw new Error(`${method} ${repository}/${path} failed with HTTP ${response.status}.${hint}`)
  }
  return JSON.parse(text) as unknown
}

/** Runs the command in the environment of the action. Returns the line to print. */
export async function main(env: Record<string, string | undefined>): Promise<string> {
  const requireEnv = (name: string): string => {
    const value = env[name]
    if (value === undefined || value === '') throw new Error(`expected ${name} to be set`)
    return value
  }
  const host: CodeHost = {
    api: requireEnv('GITHUB_API_URL'),
    repository: requireEnv('GITHUB_REPOSITORY'),
    token: requireEnv('CODE_HOST_TOKEN'),
    author: requireEnv('AUTHOR'),
  }
  const text = readFileSync(requireEnv('REPORT'), 'utf8')
  if (requireEnv('COMMAND') === 'issue') {
    const differs = requireEnv('DIFFERS')
    if (differs !== 'true' && differs !== 'false')
      throw new Error(`expected DIFFERS to be true or false, got "${differs}"`)
    return `issue ${await keepIssue(host, differs === 'true', text)}`
  }
  const number = requireEnv('PULL_REQUEST')
  if (!/^[1-9]\d{0,9}$/.test(number))
    throw new Error(`expected the number of a pull request, got "${number}"`)
  return `comment ${await keepComment(host, Number(number), text)}`
}

/** Formats the cause of a failed fetch; its message does not contain it. */
function formatCause({ cause }: Error): string {
  return cause instanceof Error
    ? ` (${(cause as NodeJS.ErrnoException).code ?? cause.message})`
    : ''
}

const entryPath = process.argv[1]
// A runner may store actions behind a symbolic link.
if (entryPath !== undefined && realpathSync(entryPath) === fileURLToPath(import.meta.url)) {
  try {
    console.log(await main(process.env))
  } catch (error) {
    const message = error instanceof Error ? `${error.message}${formatCause(error)}` : String(error)
    console.log(
      `::error::${message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`,
    )
    process.exitCode = 1
  }
}
