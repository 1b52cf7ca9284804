import { escapeData } from '../../core/model/text/github-log.ts'
import { resolve } from 'node:path'
import { isInside } from '../../files/is-inside.ts'
import { loadText, isFault } from '../../files/load-bounded.ts'
import { exists } from '../../files/look.ts'
import { appendToNamed } from '../../files/store-file.ts'
import { removeOutput } from '../../files/write-output.ts'
import { buildCommandLine, printsAnnotations } from './command-line.ts'
import {
  findMarkdown,
  listReports,
  readInputs,
  requireVariable,
  type Env,
  type Inputs,
} from './inputs.ts'
import {
  runGuarded,
  runPlain,
  type ProgramOptions,
  buildProgramEnvironment,
} from './run-program.ts'
import { loadNamed } from '../../files/load-below.ts'
import {
  CodeHostError,
  findMergedPullRequest,
  keepComment,
  keepIssue,
  type CodeHost,
} from './code-host.ts'
import { addPageLink } from './page-link.ts'

/** Maximum size of a report or a plan. */
const maxBytes = 256 * 1024 * 1024

/** Surroundings of the action. */
export interface ActionOptions extends Pick<ProgramOptions, 'program' | 'out'> {
  env: Env
}

/**
 * Runs the command of the inputs: a command of the program, or one that publishes a report. Sets
 * the outputs, and adds the report to the summary of the job.
 *
 * @returns the exit code of the action; differences are not a failure
 * @throws Error if an input is invalid, or the code host does not accept a report
 */
export async function runAction(options: ActionOptions): Promise<number> {
  const { env, out } = options
  const inputs = readInputs(env)
  let code = 1
  try {
    if (inputs.command === 'comment' || inputs.command === 'issue') {
      const publish = inputs.command === 'comment' ? publishComment : publishIssue
      const { text, isWarning } = await publish(inputs, env)
      out(isWarning ? `::warning::${escapeData(text)}\n` : `${text}\n`)
      return (code = 0)
    }
    code = await runCommand(inputs, options)
  } finally {
    setOutput('exit-code', String(code), env)
  }
  if (inputs.command === 'apply') summarize(inputs, env)
  const compares = inputs.command === 'plan' || inputs.command === 'drift'
  if (!compares || (code !== 0 && code !== 2)) return code
  summarize(inputs, env)
  setOutput('differs', String(code === 2 || isConditional(inputs, env)), env)
  return 0
}

/** Runs the program, before a plan also its checks, and returns the exit code. */
async function runCommand(inputs: Inputs, { env, program, out }: ActionOptions): Promise<number> {
  const checkout = requireVariable(env, 'GITHUB_WORKSPACE')
  const isInCheckout = (path: string) => isInside(checkout, resolve(checkout, path))
  const words = buildCommandLine(inputs)
  const usesPlan = ['plan', 'apply'].includes(inputs.command) && inputs.plan !== ''
  if (usesPlan && isInCheckout(inputs.plan))
    throw new Error(
      `the plan "${inputs.plan}" is in the checkout, where a pull request can change it. ` +
        'Set the input "plan" to a file outside it.',
    )
  // Reports of an earlier run would be taken for those of this run.
  for (const file of listReports(inputs)) removeEarlier(file, checkout)
  const options = { program, cwd: checkout, env: buildProgramEnvironment(env, isInCheckout), out }
  if (inputs.command === 'plan') {
    const checks = buildCommandLine({ ...inputs, command: 'validate', args: '' })
    const code = await runPlain(checks, options)
    if (code !== 0) return code
  }
  return printsAnnotations(inputs) ? runPlain(words, options) : runGuarded(words, options)
}

/** @throws Error for a report that the program would not write, or that can't be removed */
function removeEarlier(file: string, checkout: string): void {
  const fault = removeOutput({ path: resolve(checkout, file), checkout })
  if (fault === null) return
  throw new Error(
    'link' in fault
      ? `the report "${file}" is not written: ${fault.link} is a symbolic link in the checkout, ` +
          'and a commit can bring one. Remove the link, or name a file outside of the checkout.'
      : `the report "${file}" of an earlier run can't be removed (${fault.code})`,
  )
}

/** Returns whether only an apply, which has the secrets, decides if a plan changes something. */
function isConditional({ command, plan }: Inputs, env: Env): boolean {
  if (command !== 'plan') return false
  const { summary } = JSON.parse(loadText(locate(plan, env), maxBytes)) as {
    summary: { conditional: number }
  }
  return summary.conditional > 0
}

/** Adds the report to the summary; an apply that fails early has none. */
function summarize(inputs: Inputs, env: Env): void {
  const report = findMarkdown(inputs)
  const path = report === null ? null : locate(report, env)
  if (path !== null && exists(path))
    appendToNamed(requireVariable(env, 'GITHUB_STEP_SUMMARY'), loadText(path, maxBytes))
}

function setOutput(name: string, value: string, env: Env): void {
  appendToNamed(requireVariable(env, 'GITHUB_OUTPUT'), `${name}=${value}\n`)
}

/** Finds a file of an input: relative paths are below the checkout, as for the program. */
function locate(path: string, env: Env): string {
  return resolve(requireVariable(env, 'GITHUB_WORKSPACE'), path)
}

/** Maximum size of a report, bytes. */
const maxReportBytes = 16 * 1024 * 1024

/** Report of what was done: a line for the log, and whether it is a warning. */
interface Published {
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
