import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ActionRunner } from './action-runner.ts'
import type { Job, Step, Workflow } from './templates.ts'

type Values = Record<string, string>

/** Event that starts a workflow. */
export interface WorkflowEvent {
  name: string
  ref: string
  commit: string
  pullRequest?: number
  /** Of a workflow that is started by hand. */
  inputs?: Values
}

type Scalar = string | number | boolean
/** Values of expressions in a job, by expression. */
type Scope = Record<string, string>

const hosted = /^actions\/(checkout|upload-artifact|download-artifact)@/

/** Runs the jobs of a workflow one after another, as far as the workflows of `init` need it. */
export class WorkflowRunner {
  readonly #artifacts = new Map<string, { file: string; text: string }>()
  readonly #action: ActionRunner
  readonly #folder: string
  readonly #origin: string
  readonly #env: Values

  /**
   * @param folder for checkouts
   * @param origin repository that they are fetched from
   * @param env variables of every step
   */
  constructor(action: ActionRunner, folder: string, origin: string, env: Values) {
    this.#action = action
    this.#folder = folder
    this.#origin = origin
    this.#env = env
  }

  /** Runs the jobs whose conditions hold; returns their results by id. */
  async run(workflow: Workflow, event: WorkflowEvent): Promise<Values> {
    const results: Values = {}
    const scope: Scope = {
      'github.token': 'token-of-the-host',
      'secrets.EDGEWISE_TOKEN': 'token-of-the-service',
      "github.event.merge_group.base_sha || 'HEAD^1'": 'HEAD^1',
      'runner.temp': this.#action.temp,
      ...Object.fromEntries(
        Object.entries(event.inputs ?? {}).map(([name, value]) => [`inputs.${name}`, value]),
      ),
    }
    for (const [id, job] of Object.entries(workflow.jobs)) {
      if (!holds(job.if, scope, false)) continue
      const own = { ...scope }
      results[id] = (await this.#runJob(job, own, event)) ? 'done' : 'failed'
      for (const [name, value] of Object.entries(job.outputs ?? {}))
        scope[`needs.${id}.outputs.${name}`] = evaluate(value, own)
    }
    return results
  }

  async #runJob(job: Job, scope: Scope, event: WorkflowEvent): Promise<boolean> {
    this.#action.clear()
    const checkout = mkdtempSync(join(this.#folder, 'checkout-'))
    let hasFailed = false
    for (const step of job.steps) {
      if (!holds(step.if, scope, hasFailed)) continue
      const outputs = await this.#runStep(step, scope, checkout, event)
      if (outputs === null) hasFailed = true
      for (const [name, value] of Object.entries(outputs ?? {}))
        scope[`steps.${step.id}.outputs.${name}`] = value
    }
    return !hasFailed
  }

  /** Runs a step; returns its outputs, null if it failed. */
  async #runStep(
    step: Step,
    scope: Scope,
    checkout: string,
    event: WorkflowEvent,
  ): Promise<Values | null> {
    const given = evaluateAll(step.with, scope)
    const env = {
      ...this.#env,
      GITHUB_EVENT_NAME: event.name,
      GITHUB_REF: event.ref,
      GITHUB_REF_PROTECTED: 'true',
      GITHUB_SHA: event.commit,
      ...evaluateAll(step.env, scope),
    }
    if (step.run !== undefined) return runScript(step.run, checkout, env)
    const [, kind] = hosted.exec(step.uses ?? '') ?? []
    if (kind === 'checkout') return this.#checkOut(checkout, event.commit)
    if (kind !== undefined) return this.#carry(kind, given)
    if (event.pullRequest !== undefined && given['command'] === 'comment')
      given['pull-request'] = String(event.pullRequest)
    const { status, outputs } = await this.#action.act(checkout, given, env)
    return status === 0 ? outputs : null
  }

  #checkOut(checkout: string, commit: string): Values {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: checkout, env: this.#env })
    git('init', '--quiet')
    git('remote', 'add', 'origin', this.#origin)
    git(
      'fetch',
      '--quiet',
      'origin',
      '+refs/heads/*:refs/remotes/origin/*',
      '+refs/pull/*:refs/pull/*',
    )
    git('checkout', '--quiet', '--detach', commit)
    return {}
  }

  /** Uploads or downloads an artifact. */
  #carry(kind: string, { name = '', path = '' }: Values): Values {
    if (kind === 'upload-artifact') {
      this.#artifacts.set(name, { file: basename(path), text: readFileSync(path, 'utf8') })
      const id = String(this.#artifacts.size)
      return { 'artifact-id': id, 'artifact-url': `https://code-host.example/artifacts/${id}` }
    }
    const { file, text } = this.#artifacts.get(name) ?? { file: 'missing', text: '' }
    mkdirSync(join(path, file, '..'), { recursive: true })
    writeFileSync(join(path, file), text)
    return {}
  }
}

function runScript(script: string, checkout: string, env: Values): Values | null {
  const output = join(dirname(checkout), 'output')
  writeFileSync(output, '')
  const variables = { ...env, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: `${output}.md` }
  const { status } = spawnSync('bash', ['-e', '-c', script], { cwd: checkout, env: variables })
  if (status !== 0) return null
  const lines = readFileSync(output, 'utf8').split('\n')
  return Object.fromEntries(lines.filter((line) => line !== '').map((line) => line.split('=')))
}

/** Evaluates the values of a step, which may be numbers and booleans in YAML. */
function evaluateAll(values: Record<string, Scalar> | undefined, scope: Scope): Values {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => [name, evaluate(String(value), scope)]),
  )
}

function evaluate(text: string, scope: Scope): string {
  return text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const value = scope[expression]
    if (value === undefined && !/^(steps|needs)\./.test(expression))
      throw new Error(`the expression "${expression}" is not evaluated here`)
    return value ?? ''
  })
}

/** Decides a condition: comparisons with a text, joined by "&&". */
function holds(condition: string | undefined, scope: Scope, hasFailed: boolean): boolean {
  const parts = condition?.split(/\s*&&\s*/) ?? []
  if (hasFailed && !parts.includes('always()')) return false
  return parts.every((part) => {
    // Pull requests are from the repository itself.
    if (part === 'always()' || part.endsWith('== github.repository')) return true
    const [, name = '', sign, text] = /^(\S+) (==|!=) '(.*)'$/.exec(part) ?? []
    if (sign === undefined) throw new Error(`the condition "${part}" is not evaluated here`)
    return ((scope[name] ?? '') === text) === (sign === '==')
  })
}
