import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { expect } from 'vitest'
import type { UserCache } from '../../src/operations/runtime/parts.ts'
import type { Io } from '../../src/cli/io.ts'
import { run } from '../../src/cli/program.ts'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'
import type { Call } from '../../src/emulator/entities/call.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { parseRollout } from '../../src/state/format/rollout-file.ts'
import type { Clock, WaitName } from '../../src/core/model/time/clock.ts'
import type { Transport } from '../../src/service/transport.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { seed } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'

/** Result of a command line. */
export interface CommandResult {
  code: number
  out: string
  err: string
}

export const token = 'tok-of-the-tests'

/** Starts a service on a socket, without a call rate. */
export async function startService(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  return startEmulator(
    {
      token,
      domains: null,
      callsPerMinute: 0,
      itemKeys: {},
      control: true,
      lenient: false,
      dataFile: null,
      now: () => Date.now(),
      requestId: () => 'request',
      limitStyle: 'status',
      seed: 'steps',
      timezone: 'UTC',
      deadOrigins: [],
      faults: [],
      ...options,
    },
    { host: '127.0.0.1', port: 0 },
  )
}

/** Clock that advances only by waiting. */
export interface ManualTime {
  now: number
  /** Error of the wall clock of the commands, ms; the service's clock is right. */
  skew?: number
  /** Called after each wait with its length, ms. */
  onSleep?(ms: number, name?: WaitName): Promise<void>
  /** Replaces all waits; it advances `now`. */
  sleep?: Clock['sleep']
}

function createClock(time: ManualTime): Clock {
  return {
    now: () => time.now + (time.skew ?? 0),
    monotonic: () => time.now,
    sleep: async (ms, signal, name) => {
      if (time.sleep !== undefined) return time.sleep(ms, signal, name)
      // The heartbeat of the lock runs until the lock is released.
      if (name === 'lock-beat') return aborted(signal)
      if (signal?.aborted === true) return
      time.now += ms
      await time.onSleep?.(ms, name)
    },
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) =>
    signal?.addEventListener('abort', () => resolve(), { once: true }),
  )
}

let drawnFor = { test: '', places: 0 }

/** Chance for a place: no two places of a test draw the same, and every run of it does. */
function chanceOfPlace(): Chance {
  const test = expect.getState().currentTestName ?? ''
  drawnFor = { test, places: drawnFor.test === test ? drawnFor.places + 1 : 0 }
  return new Chance(`${seed} ${test} ${drawnFor.places}`)
}

/** Workspace in a temporary folder, with the command line. */
export class Place {
  readonly root: string
  /** Current folder of the commands, relative to the workspace. */
  cwd = '.'
  env: Record<string, string | undefined> = { EDGEWISE_TOKEN: token }
  ask: Io['ask'] = null
  stdin: Readable | null = null
  disk: Disk = realDisk
  /** Transport to the service; absent: sockets. */
  transport: Transport | undefined
  /** Identifies who has a token of OpenID Connect; absent: nobody is. */
  identifyToken: Io['identifyToken']
  /** Cache of assembled manifests; absent: none. */
  cache: UserCache | undefined
  /** Whether stdout and stderr are a terminal, of 80 columns. */
  onTerminal = false
  /** Clock that advances only by waiting, in ms; null for the real clock plus all waits. */
  time: ManualTime | null = null
  signal = new AbortController().signal
  /** Whether earlier lock holders count as dead processes. */
  otherProcessesDead = false
  /** Whether earlier lock holders count as stopped by a signal. */
  otherProcessesStopped = false
  /** Called with each text that a command writes to stderr. */
  onStderr: ((text: string) => void) | null = null
  /** Runs work that blocks the process; absent: it ends by itself. */
  runBlocking: Io['runBlocking'] | null = null
  /** Called when a command is to keep memory low. */
  onSaveMemory: (() => void) | null = null
  /** Called while a command waits. */
  onSleep: ((ms: number) => Promise<void>) | null = null
  #slept = 0
  readonly #chance = chanceOfPlace()
  readonly #ids = this.#chance.fork('ids')

  constructor(
    url: string,
    more = '',
    {
      root = '',
      state = 'state: {store: dir, path: .edgewise/state}',
      limits = '{callsPerMinute: 10000}',
      timezone = 'UTC',
    } = {},
  ) {
    this.root = root === '' ? mkdtempSync(join(tmpdir(), 'edgewise-steps-')) : root
    this.write(
      'edgewise.yaml',
      `version: 1\nservice:\n  url: ${url}\n  token: \${env:EDGEWISE_TOKEN}\n` +
        `  timezone: ${timezone}\n` +
        '  itemKeys: {deny_protocol: deny_protocol, error_bcache: error_bcache}\n' +
        `limits: ${limits}\n${state}\nallowLiteralSecrets: true\n${more}`,
    )
  }

  write(path: string, text: string): this {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return this
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** Adds a line to the workspace file. */
  configure(line: string): this {
    return this.write('edgewise.yaml', `${this.read('edgewise.yaml')}${line}\n`)
  }

  /** Puts only items into one write that the specification combines. */
  groupAsDocumented(): this {
    return this.configure('grouping: {groups: documented}')
  }

  /** Writes the manifest of one domain; JSON is YAML. */
  manifest(domain: string, config: JsonObject): this {
    return this.write(`domains/${domain}.yaml`, JSON.stringify({ domain, config }))
  }

  async cli(...args: string[]): Promise<CommandResult> {
    const ran: CommandResult = { code: 0, out: '', err: '' }
    ran.code = await run(args, this.createIo(ran))
    return ran
  }

  /** Creates the ports of a command; what it prints is added to `ran`. */
  createIo(ran: Omit<CommandResult, 'code'> = { out: '', err: '' }): Io {
    const clock = this.time === null ? this.#hasty() : createClock(this.time)
    return {
      cwd: join(this.root, this.cwd),
      env: this.env,
      out: (text) => void (ran.out += text),
      err: (text) => {
        ran.err += text
        this.onStderr?.(text)
      },
      columns: 80,
      errColumns: 80,
      outIsTerminal: this.onTerminal,
      errIsTerminal: this.onTerminal,
      ask: this.ask,
      openStdin: this.stdin === null ? null : () => this.stdin as Readable,
      clock,
      newId: () => `00000000-0000-4000-8000-${this.#ids.between(1e11, 1e12 - 1)}`,
      user: `${process.pid}@tests`,
      random: () => this.#chance.draw(),
      machine: {
        boot: 'boot',
        namespace: 'namespace',
        pid: process.pid,
        uptime: () => clock.monotonic(),
        started: '',
        processName: `test-${process.pid}`,
        isRunning: () => !this.otherProcessesDead,
        isStopped: () => this.otherProcessesStopped,
      },
      disk: this.disk,
      ...(this.transport === undefined ? {} : { transport: this.transport }),
      ...(this.runBlocking == null ? {} : { runBlocking: this.runBlocking }),
      ...(this.cache === undefined ? {} : { cache: this.cache }),
      ...(this.identifyToken === undefined ? {} : { identifyToken: this.identifyToken }),
      signal: this.signal,
      waitForStop: () => Promise.resolve(),
      saveMemory: () => this.onSaveMemory?.(),
    }
  }

  /** Creates a clock whose waits end at once and advance the time. */
  #hasty(): Clock {
    return {
      now: () => Date.now() + this.#slept,
      monotonic: () => performance.now() + this.#slept,
      sleep: async (ms, signal, name) => {
        // The heartbeat of the lock runs as long as the command.
        if (name === 'lock-beat') return aborted(signal)
        this.#slept += ms
        await this.onSleep?.(ms)
        // A loop that waits for an answer would let none arrive.
        await setImmediate()
      },
    }
  }

  /** Applies, and expects success and an empty plan. */
  async settle(): Promise<void> {
    const applied = await this.cli('apply', '--yes', '--allow', 'https', '--allow', 'extend')
    if (applied.code !== 0)
      throw new Error(`apply exited with ${applied.code}\n${applied.out}${applied.err}`)
    const plan = await this.cli('plan', '--detailed-exitcode')
    if (plan.code !== 0) throw new Error(`a plan after it is not empty\n${plan.out}${plan.err}`)
  }

  /** Runs a command with `--json` and parses its output. */
  async json(...args: string[]): Promise<JsonObject> {
    const { out } = await this.cli(...args, '--json')
    return JSON.parse(out) as JsonObject
  }

  /** Returns what is recorded of a domain, by item, as `show` prints it. */
  async recorded(domain: string): Promise<Record<string, JsonObject>> {
    const { items = {} } = await this.json('show', domain)
    const keys = ['candidates', 'status', 'at', 'apply', 'origin', 'unknown', 'returned']
    const isKept = (key: string) => keys.includes(key) || key === 'unknownFields'
    return Object.fromEntries(
      Object.entries(items as Record<string, JsonObject>).flatMap(([item, known]) =>
        known['status'] === null
          ? []
          : [[item, Object.fromEntries(Object.entries(known).filter(([key]) => isKept(key)))]],
      ),
    )
  }

  /** Loads the rollouts in the workspace's state folder. */
  loadRollouts(): Rollout[] {
    return this.findRolloutFiles().map((path) =>
      parseRollout(path, readFileSync(join(this.root, path), 'utf8')),
    )
  }

  /** Finds a file of the state by its name, relative to the workspace; undefined without one. */
  findStateFile(name: string): string | undefined {
    const state = join('.edgewise', 'state')
    const paths = readdirSync(join(this.root, state), { recursive: true, encoding: 'utf8' })
    const found = paths.find((path) => path.endsWith(`/${name}`))
    return found === undefined ? undefined : join(state, found)
  }

  /** Lists the rollout files, relative to the workspace. */
  findRolloutFiles(): string[] {
    const state = join('.edgewise', 'state')
    return readdirSync(join(this.root, state), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\/rollouts\/.*json$/.test(path))
      .map((path) => join(state, path))
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** Fetches the live configuration: domain → item → value. */
export async function fetchConfigs(emulator: Emulator): Promise<Record<string, JsonObject>> {
  const state = (await (await fetch(`${emulator.url}/_emulator/state`)).json()) as {
    domains: Record<string, JsonObject>
  }
  return state.domains
}

/** Fetches the live configuration of a domain. */
export async function fetchConfig(emulator: Emulator, domain: string): Promise<JsonObject> {
  return (await fetchConfigs(emulator))[domain] ?? {}
}

/** Fetches the calls of the service, including refused ones. */
export async function fetchCalls(emulator: Emulator): Promise<Call[]> {
  return (await (await fetch(`${emulator.url}/_emulator/calls`)).json()) as Call[]
}

/** Fetches the writes of the service, including refused ones. */
export async function fetchWrites(emulator: Emulator): Promise<Call[]> {
  return (await fetchCalls(emulator)).filter(
    ({ method, path }) => method === 'POST' && path === '/v2/domain/config',
  )
}

/** Replaces the faults of the emulator. */
export async function setFaults(emulator: Emulator, ...faults: Json[]): Promise<void> {
  const { ok, statusText } = await fetch(`${emulator.url}/_emulator/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ faults }),
  })
  if (!ok)
    throw new Error(`the emulator takes no such faults: ${JSON.stringify(faults)} (${statusText})`)
}

/** Resets configuration and calls of the emulator. */
export async function resetEmulator(emulator: Emulator): Promise<void> {
  const reset = () => fetch(`${emulator.url}/_emulator/reset`, { method: 'POST' })
  // The emulator may have ended a kept connection just when it was used again.
  await reset().catch(reset)
}
