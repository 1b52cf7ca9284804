import { appendFileSync, existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { buildCommandLine, printsAnnotations } from './command-line.ts'
import { escapeData } from './escape-data.ts'
import { readInputs, requireVariable, type Env, type Inputs } from './inputs.ts'
import { buildProgramEnvironment } from './program-environment.ts'
import { publishComment, publishIssue } from './publish.ts'
import { runGuarded, runPlain, type ProgramOptions } from './run-program.ts'

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
  if (inputs.html !== '' && existsSync(locate(inputs.html, env)))
    setOutput('html', locate(inputs.html, env), env)
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
  for (const file of [inputs.report, inputs.html])
    if (file !== '') rmSync(resolve(checkout, file), { force: true })
  const options = { program, cwd: checkout, env: buildProgramEnvironment(env, isInCheckout), out }
  if (inputs.command === 'plan') {
    const checks = buildCommandLine({ ...inputs, command: 'validate', args: '' })
    const code = await runPlain(checks, options)
    if (code !== 0) return code
  }
  return printsAnnotations(inputs) ? runPlain(words, options) : runGuarded(words, options)
}

/** Returns whether only an apply, which has the secrets, decides if a plan changes something. */
function isConditional({ command, plan }: Inputs, env: Env): boolean {
  if (command !== 'plan') return false
  const { summary } = JSON.parse(readFileSync(locate(plan, env), 'utf8')) as {
    summary: { conditional: number }
  }
  return summary.conditional > 0
}

/** Adds the report to the summary; an apply that fails early has none. */
function summarize({ report }: Inputs, env: Env): void {
  const path = locate(report, env)
  if (existsSync(path))
    appendFileSync(requireVariable(env, 'GITHUB_STEP_SUMMARY'), readFileSync(path))
}

function setOutput(name: string, value: string, env: Env): void {
  appendFileSync(requireVariable(env, 'GITHUB_OUTPUT'), `${name}=${value}\n`)
}

/** Finds a file of an input: relative paths are below the checkout, as for the program. */
function locate(path: string, env: Env): string {
  return resolve(requireVariable(env, 'GITHUB_WORKSPACE'), path)
}

/** Returns whether a path, or the deepest existing folder above it, is below a folder. */
function isInside(folder: string, path: string): boolean {
  if (!existsSync(path) && dirname(path) !== path) return isInside(folder, dirname(path))
  const below = relative(realpathSync(folder), realpathSync(path))
  return below === '' || (below !== '..' && !below.startsWith(`..${sep}`))
}
