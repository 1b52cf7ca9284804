import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import type { DatabaseConfig } from '../../src/core/model/config.ts'
import { buildGitEnvironment } from '../../src/state/git/git-environment.ts'
import { openGit } from '../../src/state/git/open-git.ts'
import { openState } from '../../src/state/store/open-state.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { RecordedState } from '../../src/state/store/store.ts'
import { GitSandbox } from '../state/git-sandbox.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
export const token = 'token-of-the-runs'

/** Output and exit of a program. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
  ms: number
}

/**
 * Real program in a clone of a real bare remote, which has another clone, with the real emulator in
 * its own process.
 */
export class RealRuns {
  readonly sandbox = new GitSandbox()
  readonly #emulator: ChildProcess
  readonly #database: DatabaseConfig | undefined
  readonly url: string
  /** Id of the workspace. */
  readonly id: string
  /** All that the runs have printed. */
  output = ''

  /**
   * Starts the emulator; the state is in git, or in a database.
   *
   * @param options of its command line, and faults to inject
   */
  static async start(options: (string | Fault)[], database?: DatabaseConfig): Promise<RealRuns> {
    const words = options.filter((option) => typeof option === 'string')
    const faults = options.filter((option) => typeof option !== 'string')
    const emulator = spawn(
      process.execPath,
      [program, 'emulator', '--quiet', '--token', token, ...words],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const url = await new Promise<string>((resolve, reject) => {
      emulator.once('exit', (code) =>
        reject(new Error(`expected the emulator to listen, got exit code ${code}`)),
      )
      emulator.stdout?.once('data', (text) => resolve(/http:\S+/.exec(String(text))?.[0] ?? ''))
    })
    await fetch(`${url}/_emulator/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ faults }),
    })
    return new RealRuns(emulator, url, database, 'default').#prepare()
  }

  /** Creates another workspace of the same service, of another user and repository. */
  share(id: string): Promise<RealRuns> {
    return new RealRuns(this.#emulator, this.url, this.#database, id).#prepare()
  }

  private constructor(
    emulator: ChildProcess,
    url: string,
    database: DatabaseConfig | undefined,
    id: string,
  ) {
    this.#emulator = emulator
    this.url = url
    this.#database = database
    this.id = id
  }

  async #prepare(): Promise<this> {
    await this.sandbox.withRemote('remote.git', 'clone', 'other')
    return this
  }

  /** Writes the workspace file of the clone; calls go to the emulator unless `url` differs. */
  workspace(more: string, url = this.url, timeoutSeconds = 4): void {
    const times = `settleSeconds: 1, timeoutSeconds: ${timeoutSeconds}`
    const service = `service: {url: '${url}', token: '\${env:EDGEWISE_TOKEN}', ${times}}`
    const schema = this.#database?.schema
    const inDatabase = `state: {store: postgres, url: '\${env:DATABASE_URL}', schema: ${schema}}`
    const state = schema === undefined ? '' : inDatabase
    this.#write('edgewise.yaml', `version: 1\nid: ${this.id}\n${service}\n${state}\n${more}\n`)
  }

  manifest(domain: string, config: object): void {
    this.#write(`domains/${domain}.yaml`, JSON.stringify({ domain, config }))
  }

  #write(path: string, text: string): void {
    const file = join(this.sandbox.folder, 'clone', path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
  }

  /**
   * Runs the program, and kills it after `killedAfter` ms. `onStderr` is called with its stderr so
   * far.
   */
  run(
    args: string[],
    killedAfter?: number,
    onStderr: (text: string, child: ChildProcess) => void = () => {},
  ): Promise<Ended> {
    const { child, ended } = this.spawn(args, onStderr)
    const timer =
      killedAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfter)
    return ended.finally(() => clearTimeout(timer))
  }

  /** Starts the program. `onStderr` is called with its stderr so far. */
  spawn(
    args: string[],
    onStderr: (text: string, child: ChildProcess) => void = () => {},
  ): { child: ChildProcess; ended: Promise<Ended> } {
    const started = performance.now()
    const env = {
      ...this.sandbox.env,
      EDGEWISE_TOKEN: token,
      DATABASE_URL: this.#database?.url,
      NO_COLOR: '1',
    }
    const child = spawn(process.execPath, [program, ...args], {
      cwd: join(this.sandbox.folder, 'clone'),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group, as a shell creates one.
      detached: true,
    })
    const ended: Ended = { code: null, signal: null, out: '', err: '', ms: 0 }
    child.stdout.on('data', (text) => (ended.out += String(text)))
    child.stderr.on('data', (text) => {
      ended.err += String(text)
      onStderr(ended.err, child)
    })
    const end = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => {
        this.output += ended.out + ended.err
        resolve({ ...ended, code, signal, ms: performance.now() - started })
      })
    })
    return { child, ended: end }
  }

  /** Loads the state from the remote or the database, or from a folder of the workspace. */
  async loadRecorded(isInFolder = false): Promise<RecordedState> {
    const git = {
      store: isInFolder ? ('dir' as const) : ('git' as const),
      branch: 'edgewise-state',
      remote: 'origin',
      path: '.edgewise/state',
    }
    const database = this.#database
    const { signal } = new AbortController()
    const clock = { monotonic: () => performance.now(), sleep: (ms: number) => sleep(ms) }
    const { store } = await openState(
      {
        root: join(this.sandbox.folder, 'clone'),
        id: this.id,
        address: this.url,
        account: 'default',
        state: { ...git, ...(database === undefined ? {} : { store: 'postgres', database }) },
      },
      {
        disk: realDisk,
        processName: 'look',
        openGit: (folder, remote) =>
          openGit(folder, remote, buildGitEnvironment(this.sandbox.env, ''), {
            clock: { now: Date.now },
            signal,
          }),
        openDatabase: (config) => openDatabase(config, { clock, signal }),
      },
    )
    return store.load()
  }

  /** Queries the control surface of the emulator. */
  async look<T>(what: 'state' | 'calls'): Promise<T> {
    return (await (await fetch(`${this.url}/_emulator/${what}`)).json()) as T
  }

  end(): void {
    this.#emulator.removeAllListeners('exit')
    this.#emulator.kill('SIGKILL')
    this.sandbox.remove()
  }
}
