import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measure, type Cost } from './measure.ts'

export const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const reporter = fileURLToPath(new URL('report-memory.cjs', import.meta.url))
const parser = fileURLToPath(new URL('parse-yaml.mjs', import.meta.url))

interface RunOptions {
  env?: NodeJS.ProcessEnv
  times?: number
}

/** Temporary folder of a benchmark, with the processes that it starts. */
export class Workbench {
  readonly home = mkdtempSync(join(tmpdir(), 'edgewise-bench-'))
  /** No configuration of this machine, and no cache from before. */
  readonly env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: this.home,
    XDG_CACHE_HOME: join(this.home, 'cache'),
    EDGEWISE_TOKEN: 'any',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Bench',
    GIT_AUTHOR_EMAIL: 'bench@example.com',
    GIT_COMMITTER_NAME: 'Bench',
    GIT_COMMITTER_EMAIL: 'bench@example.com',
  }
  readonly #children: ChildProcess[] = []

  /**
   * Removes everything when this process exits, also after a signal. Not below the program `tsx`,
   * which kills a process that does not handle a signal within seconds: run `node --import tsx`.
   */
  constructor() {
    process.once('exit', () => this.end())
    for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const])
      // Not once: a second signal would end the process before the folder is removed.
      process.on(signal, () => process.exit(code))
  }

  /** Creates an empty folder; one of the same name is removed. */
  makeFolder(name: string): string {
    const folder = join(this.home, name)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    return folder
  }

  git(folder: string, ...args: string[]): void {
    execFileSync('git', args, {
      cwd: folder,
      env: this.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }

  /** Measures the program. */
  edgewise(folder: string, args: string[], options: RunOptions = {}): Cost {
    return this.node(folder, [program, ...args], options)
  }

  /** Measures the program without what earlier commands cached. */
  edgewiseCold(folder: string, args: string[], options: RunOptions = {}): Cost {
    return this.edgewise(folder, [...args, '--no-cache'], { ...options, env: this.#coldEnv() })
  }

  /** Measures a program of Node. */
  node(folder: string, args: string[], options: RunOptions = {}): Cost {
    const { env = this.env, times } = options
    return measure({ folder, env, args: [process.execPath, ...args], times })
  }

  /** Measures the parsing of all files of a folder with the package `yaml`. */
  parse(folder: string): Cost {
    return this.node(folder, [parser, folder])
  }

  /** Measures the peak memory of the program, MB. */
  measurePeak(folder: string, args: string[], cold: boolean): number {
    const file = join(this.home, 'memory')
    rmSync(file, { force: true })
    const env = { ...(cold ? this.#coldEnv() : this.env), EDGEWISE_BENCH_MEMORY: file }
    const more = cold ? ['--no-cache'] : []
    this.node(folder, ['--require', reporter, program, ...args, ...more], { env })
    return loadPeak(file)
  }

  /** Measures the program without a cache, and its peak memory, MB; it may end with exit code 1. */
  measureRefusing(folder: string, args: string[]): Cost & { peak: number } {
    const file = join(this.home, 'memory')
    rmSync(file, { force: true })
    const env = { ...this.#coldEnv(), EDGEWISE_BENCH_MEMORY: file }
    const node = [process.execPath, '--require', reporter, program, ...args, '--no-cache']
    const cost = measure({ folder, env, args: ['bash', '-c', '"$@" || [ $? = 1 ]', '-', ...node] })
    return { ...cost, peak: loadPeak(file) }
  }

  /** Starts the program, which adds its memory to `file` ten times a second. */
  spawn(folder: string, args: string[], file: string): ChildProcess {
    const env = { ...this.env, EDGEWISE_BENCH_MEMORY: file }
    const child = spawn(process.execPath, ['--require', reporter, program, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#children.push(child)
    return child
  }

  /** Starts an emulator without call rate, and returns its address and process. */
  async startEmulator(...more: string[]): Promise<{ url: string; child: ChildProcess }> {
    const args = [program, 'emulator', '--quiet', '--calls-per-minute', '0', ...more]
    const child = spawn(process.execPath, args, {
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#children.push(child)
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return { url: String(line).replace('listening on ', '').trim(), child }
  }

  /** Returns the environment with an empty folder for caches of this user. */
  #coldEnv(): Record<string, string> {
    return { ...this.env, XDG_CACHE_HOME: this.makeFolder('cold') }
  }

  /** Ends what was started and removes the folder. */
  end(): void {
    for (const child of this.#children.splice(0)) child.kill('SIGKILL')
    rmSync(this.home, { recursive: true, force: true })
  }
}

function loadPeak(file: string): number {
  const peak = existsSync(file) && /^peak \d+ (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
  if (peak === false || peak === undefined) throw new Error('the program reported no memory')
  return Number(peak)
}
