/** Repository and account to write with. */
export interface CodeHost {
  /** URL of the API, e.g. `https://api.github.com`. */
  api: string
  /** `owner/name`. */
  repository: string
  token: string
  /** Account of the token; comments and issues of others are never touched. */
  author: string
  /** Name of the workflow: each has its own comments and issue. Empty for none. */
  workflow: string
}

interface Post {
  id: number
  number: number
  body: string | null
  user: { login: string } | null
  pull_request?: unknown
}

/** Answer of the code host that is no success. */
export class CodeHostError extends Error {
  /** HTTP status. */
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

const maxCharacters = 65_536
const maxPages = 100
const pageSize = 100
const title = 'Configuration drift'

/**
 * Creates or updates the comment of a pull request: one for its plan, another one for the apply
 * after its merge. Returns what was done.
 */
export async function keepComment(
  host: CodeHost,
  pullRequest: number,
  text: string,
): Promise<'created' | 'updated' | 'unchanged'> {
  const mark = buildMark(host, text.startsWith('### Edgewise apply\n') ? 'apply' : 'plan')
  const body = buildBody(mark, text)
  const own = (await listOwnPosts(host, `issues/${pullRequest}/comments`, mark))[0]
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
  const mark = buildMark(host, 'drift')
  const body = buildBody(mark, text)
  const found = await listOwnPosts(host, 'issues?state=open&sort=created&direction=asc', mark)
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

/** Finds the merged pull request of a commit; null if there is none, as for a direct push. */
export async function findMergedPullRequest(
  host: CodeHost,
  commit: string,
): Promise<number | null> {
  const path = `commits/${commit}/pulls`
  const found = await call(host, 'GET', `${path}?per_page=${pageSize}`)
  if (!Array.isArray(found)) throw createListError(host, path)
  const merged = (found as PullRequest[]).filter(({ merged_at }) => merged_at !== null)
  const own = merged.find(({ merge_commit_sha }) => merge_commit_sha === commit) ?? merged[0]
  return own?.number ?? null
}

interface PullRequest {
  number: number
  merged_at: string | null
  merge_commit_sha: string | null
}

/** Builds the invisible first line by which a comment or an issue is found again. */
function buildMark({ workflow }: CodeHost, kind: 'plan' | 'apply' | 'drift'): string {
  return `<!-- edgewise:${kind}${workflow === '' ? '' : ` ${encodeURIComponent(workflow)}`} -->`
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
    if (!Array.isArray(posts)) throw createListError(host, path)
    for (const post of posts as Post[])
      if (post.user?.login === host.author && post.body?.startsWith(mark) === true) found.push(post)
    if (posts.length < pageSize) break
  }
  return found
}

function createListError({ repository }: CodeHost, path: string): Error {
  return new Error(`${repository}: expected a list from ${path}, got something else`)
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
    body: body && JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) {
    const hint =
      response.status === 403 || response.status === 404
        ? ' Check the write permission of the job.'
        : ''
    throw new CodeHostError(
      `${method} ${repository}/${path} failed with HTTP ${response.status}.${hint}`,
      response.status,
    )
  }
  return JSON.parse(text) as unknown
}
