import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'

/** Seconds after which a command is given up. */
const maxSeconds = 120
const mark = `edgewise-docs-${process.pid}`

/** What a command printed. */
export interface ShellResult {
  code: number
  /** stdout and stderr, joined. */
  output: string
}

/** A shell that keeps its folder and its variables between commands. */
export class Shell {
  readonly #bash: ChildProcessWithoutNullStreams
  #output = ''
  #wake: () => void = () => undefined

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    // A group of its own, so that what runs in the background ends with it.
    this.#bash = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, detached: true })
    for (const stream of [this.#bash.stdout, this.#bash.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
        this.#wake()
      })
    this.#bash.on('exit', () => this.#wake())
  }

  /** Runs a command. */
  async run(command: string): Promise<ShellResult> {
    this.#bash.stdin.write(`{ ${command}\n} 2>&1 </dev/null; printf '\\n${mark} %d\\n' "$?"\n`)
    const end = new RegExp(`\\n${mark} (\\d+)\\n`)
    const code = Number(await this.#waitFor(end, command))
    const output = this.#output.slice(0, this.#output.search(end))
    this.#output = ''
    return { code, output }
  }

  /** Starts a command in the background, and waits for its first line. */
  async start(command: string): Promise<void> {
    this.#bash.stdin.write(`{ ${command}\n} 2>&1 </dev/null &\n`)
    await this.#waitFor(/^(.*)\n/, command)
    this.#output = ''
  }

  async #waitFor(expected: RegExp, command: string): Promise<string> {
    const deadline = Date.now() + maxSeconds * 1000
    for (;;) {
      const found = expected.exec(this.#output)?.[1]
      if (found !== undefined) return found
      if (this.#bash.exitCode !== null) throw new Error(`the shell ended:\n${this.#output}`)
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`"${command}" took over ${maxSeconds} s:\n${this.#output}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  async end(): Promise<void> {
    if (this.#bash.exitCode === null && this.#bash.pid !== undefined) {
      const ended = once(this.#bash, 'exit')
      process.kill(-this.#bash.pid, 'SIGKILL')
      await ended
    }
  }
}
