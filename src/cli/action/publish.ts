import { resolve } from 'node:path'
import { loadNamed } from '../../files/load-below.ts'
import { isFault } from '../../files/load-bounded.ts'
import {
  CodeHostError,
  findMergedPullRequest,
  keepComment,
  keepIssue,
  type CodeHost,
} from './code-host.ts'
import { addPageLink } from './page-link.ts'
import { findMarkdown, requireVariable, type Env, type Inputs } from './inputs.ts'

/** Maximum size of a report, bytes. */
const maxReportBytes = 16 * 1024 * 1024

/** Report of what was done: a line for the log, and whether it is a warning. */
export interface Published {
  text: string
  isWarning: boolean
}

/** Writes the report into the issue about drift. */
export async function publishIssue(inputs: Inputs, env: Env): Promise<Published> {
  const { differs, pageUrl } = inputs
  if (differs !== 'true' && differs !== 'false')
    throw new Error(`expected the input "differs" to be true or false, got "${differs}"`)
  const text = addPageLink(loadReport(inputs, env), pageUrl)
  const done = await keepIssue(findCodeHost(inputs, env), differs === 'true', text)
  return { text: `issue ${done}`, isWarning: false }
}

/**
 * Writes the report into a comment of the pull request: the given one, else the merged one of the
 * commit. A pull request without write permission, such as one from a fork, only causes a warning:
 * its plan is in the summary of the job.
 */
export async function publishComment(inputs: Inputs, env: Env): Promise<Published> {
  const isPullRequest = env['GITHUB_EVENT_NAME'] === 'pull_request'
  if (isPullRequest && inputs.codeHostToken === '') return skipComment('there is no token.')
  const host = findCodeHost(inputs, env)
  const text = addPageLink(loadReport(inputs, env), inputs.pageUrl)
  try {
    const number = await findPullRequest(inputs, env, host)
    if (number !== null)
      return { text: `comment ${await keepComment(host, number, text)}`, isWarning: false }
    return { text: 'no comment: no merged pull request has this commit', isWarning: false }
  } catch (error) {
    const isForbidden = error instanceof CodeHostError && [403, 404].includes(error.status)
    if (isPullRequest && isForbidden) return skipComment(error.message)
    throw error
  }
}

/** Loads the report, whose relative path is below the checkout if there is one. */
function loadReport(inputs: Inputs, env: Env): string {
  const report = findMarkdown(inputs)
  if (report === null) throw new Error('the input "report" names no file that ends with .md')
  const checkout = env['GITHUB_WORKSPACE'] ?? null
  const path = resolve(checkout ?? '.', report)
  const loaded = loadNamed(path, maxReportBytes, checkout)
  if (isFault(loaded)) throw new Error(`the report "${report}": ${loaded.reason}`)
  return loaded.toString('utf8')
}

function skipComment(reason: string): Published {
  const text =
    `no comment: ${reason} The report is in the summary of the job. A pull request from a fork ` +
    'has no token with write permission.'
  return { text, isWarning: true }
}

async function findPullRequest(
  { pullRequest }: Inputs,
  env: Env,
  host: CodeHost,
): Promise<number | null> {
  if (pullRequest === '') {
    const commit = requireVariable(env, 'GITHUB_SHA')
    if (!/^[0-9a-f]{40,64}$/.test(commit))
      throw new Error(`expected GITHUB_SHA to be a commit, got "${commit}"`)
    return findMergedPullRequest(host, commit)
  }
  if (!/^[1-9]\d{0,9}$/.test(pullRequest))
    throw new Error(
      `expected the input "pull-request" to be the number of a pull request, got "${pullRequest}"`,
    )
  return Number(pullRequest)
}

function findCodeHost({ codeHostToken, author }: Inputs, env: Env): CodeHost {
  if (codeHostToken === '') throw new Error('the input "code-host-token" is empty')
  if (author === '') throw new Error('the input "author" is empty')
  return {
    api: requireVariable(env, 'GITHUB_API_URL'),
    repository: requireVariable(env, 'GITHUB_REPOSITORY'),
    token: codeHostToken,
    author,
    workflow: env['GITHUB_WORKFLOW'] ?? '',
  }
}
