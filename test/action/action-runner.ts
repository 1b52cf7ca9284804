import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>
  runs: { using: string; main: string }
}

/** Result of a step. */
export interface Acted {
  status: number | null
  out: string
  err: string
  outputs: Record<string, string>
  summary: string
}

/**
 * Runs the action as the platform does: from a copy of its own checkout, which has what the tree of
 * a version has, for the checkout of another repository. Call `remove` at the end.
 */
export class ActionRunner {
  readonly #folder = mkdtempSync(join(tmpdir(), 'edgewise-runner-'))
  readonly #home = join(this.#folder, 'actions', 'edgewise')
  readonly #action: Action
  /** Folder for temporary files, outside the checkout. */
  readonly temp = join(this.#folder, 'temp')

  constructor() {
    mkdirSync(this.temp)
    const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    })
    // The tests of the tree are not needed, and large.
    const paths = listed.split('\0').filter((path) => path !== '' && !path.startsWith('test/'))
    for (const path of [...paths, 'dist']) {
      mkdirSync(dirname(join(this.#home, path)), { recursive: true })
      cpSync(join(root, path), join(this.#home, path), { recursive: true, force: true })
    }
    this.#action = parse(readFileSync(join(this.#home, 'action.yml'), 'utf8')) as Action
  }

  /** File of the program in the copy. */
  get program(): string {
    return join(this.#home, 'dist', 'cli', 'main.js')
  }

  /** Empties the folder for temporary files. */
  clear(): void {
    rmSync(this.temp, { recursive: true })
    mkdirSync(this.temp)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }

  /** Runs the action in a checkout with these inputs, and with variables of its job. */
  async act(
    checkout: string,
    given: Record<string, string>,
    env: Record<string, string> = {},
  ): Promise<Acted> {
    const { using, main } = this.#action.runs
    if (using !== 'node24') throw new Error(`expected runs.using to be node24, got ${using}`)
    const [output, summary] = [join(this.#folder, 'output'), join(this.#folder, 'summary.md')]
    for (const file of [output, summary]) writeFileSync(file, '')
    const child = spawn(process.execPath, [join(this.#home, main)], {
      cwd: checkout,
      env: {
        PATH: process.env['PATH'],
        HOME: this.temp,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_WORKSPACE: checkout,
        GITHUB_ACTIONS: 'true',
        RUNNER_TEMP: this.temp,
        // No registry, and no other host.
        npm_config_registry: 'http://127.0.0.1:9',
        HTTPS_PROXY: 'http://127.0.0.1:9',
        HTTP_PROXY: 'http://127.0.0.1:9',
        ...this.#buildInputs(given),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return {
      status,
      out,
      err,
      outputs: Object.fromEntries(
        readFileSync(output, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => line.split('=') as [string, string]),
      ),
      summary: readFileSync(summary, 'utf8'),
    }
  }

  /** Builds the variables of the inputs: given ones, else their defaults. */
  #buildInputs(given: Record<string, string>): Record<string, string> {
    const { inputs } = this.#action
    for (const name of Object.keys(given))
      if (inputs[name] === undefined) throw new Error(`the action has no input "${name}"`)
    return Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => {
        if (input.required === true && given[name] === undefined)
          throw new Error(`the input "${name}" is missing`)
        const value = given[name] ?? this.#evaluate(input.default ?? '')
        return [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value]
      }),
    )
  }

  /** Evaluates the expressions of a default, for an event without a pull request. */
  #evaluate(text: string): string {
    return text.replace(/\$\{\{ (\S+) \}\}/g, (_, expression: string) => {
      if (expression === 'runner.temp') return this.temp
      if (expression === 'github.event.pull_request.number') return ''
      throw new Error(`the expression "${expression}" is not evaluated here`)
    })
  }
}
