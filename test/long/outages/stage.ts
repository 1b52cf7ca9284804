import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEmulator, type Emulator } from '../../../src/emulator/emulator.ts'
import type { Call } from '../../../src/emulator/entities/call.ts'
import { connect, type Remote } from '../../remotes.ts'
import { startOwnPostgres, type CrashingServer } from '../../postgres-server.ts'
import { GitSandbox } from '../../state/git-sandbox.ts'
import { KeptReplica } from './keep-replica.ts'
import { TcpGate } from './tcp-gate.ts'

export const domains = Array.from({ length: 60 }, (_, i) => `d${i}.example.com`)
const token = 'tok-of-the-outages'
/** Number of waves of a rollout. */
export const waves = 4

/** Two replicas, a database, a git server and the service, each of which can fail. */
export class OutageStage {
  readonly server: CrashingServer
  readonly remote: Remote
  readonly replicas: KeptReplica[]
  /** Ways of the replicas to the database. */
  readonly gates: TcpGate[]
  readonly #sandbox: GitSandbox
  readonly #emulator: Emulator

  /** @param pauseSeconds pause between two waves */
  static async start(pauseSeconds: number): Promise<OutageStage> {
    const server = await startOwnPostgres(false)
    if ('failure' in server.served) throw new Error(server.served.failure)
    const database = new URL(server.served.url)
    const emulator = await startEmulator(
      {
        token,
        domains: null,
        callsPerMinute: 30,
        itemKeys: {},
        control: true,
        lenient: false,
        dataFile: null,
        now: () => Date.now(),
        requestId: () => randomUUID(),
        limitStyle: 'status',
        seed: 'outages',
        timezone: 'UTC',
        deadOrigins: [],
        faults: [],
      },
      { host: '127.0.0.1', port: 0 },
    )
    const sandbox = new GitSandbox()
    await sandbox.withRemote('remote.git', 'clone')
    const remote = await connect(sandbox, 'http')
    const gates = [
      await TcpGate.start(Number(database.port)),
      await TcpGate.start(Number(database.port)),
    ]
    const cwd = join(sandbox.folder, 'serve')
    mkdirSync(cwd)
    const replicas = gates.map(({ port }, i) => {
      const url = new URL(database)
      url.port = String(port)
      const env = { ...sandbox.env, EDGEWISE_TOKEN: token, DATABASE_URL: url.href }
      return new KeptReplica(`replica ${i + 1}`, cwd, env, [
        `http://runner@${remote.address}/remote.git`,
      ])
    })
    return new OutageStage({ server, emulator, sandbox, remote, gates, replicas, pauseSeconds })
  }

  private constructor(parts: {
    server: CrashingServer
    emulator: Emulator
    sandbox: GitSandbox
    remote: Remote
    gates: TcpGate[]
    replicas: KeptReplica[]
    pauseSeconds: number
  }) {
    this.server = parts.server
    this.remote = parts.remote
    this.replicas = parts.replicas
    this.gates = parts.gates
    this.#sandbox = parts.sandbox
    this.#emulator = parts.emulator
    writeFileSync(
      join(this.#sandbox.folder, 'clone', 'edgewise.yaml'),
      `version: 1\nid: fleet\nservice:\n  url: ${parts.emulator.url}\n` +
        '  token: ${env:EDGEWISE_TOKEN}\n  timezone: UTC\n' +
        'state: {store: postgres, url: "${env:DATABASE_URL}"}\n' +
        `rollout: {waves: [3, 20%, 50%, 100%], pause: ${parts.pauseSeconds}s}\n`,
    )
  }

  /** Pushes a commit that gives each domain this value; returns its id. */
  async push(value: number): Promise<string> {
    const folder = join(this.#sandbox.folder, 'clone')
    mkdirSync(join(folder, 'domains'), { recursive: true })
    for (const domain of domains)
      writeFileSync(
        join(folder, 'domains', `${domain}.yaml`),
        JSON.stringify({ domain, config: { timeout: { time: value } } }),
      )
    await this.#sandbox.git('clone', 'add', '--all')
    await this.#sandbox.git('clone', 'commit', '--quiet', '--message', `Value ${value}`)
    await this.#sandbox.git('clone', 'push', '--quiet', 'origin', 'HEAD:main')
    return this.#sandbox.git('clone', 'rev-parse', 'HEAD')
  }

  /** Lists the writes that the service did, from the `from`th call on. */
  async listWrites(from = 0): Promise<Call[]> {
    const calls = await this.#listCalls()
    return calls
      .slice(from)
      .filter(({ method, path }) => method === 'POST' && path === '/v2/domain/config')
  }

  async countCalls(): Promise<number> {
    return (await this.#listCalls()).length
  }

  /** Counts the domains that have a value at the service. */
  async countEqual(value: number): Promise<number> {
    const state = (await this.#ask('state')) as {
      domains: Record<string, { timeout?: { time: string } }>
    }
    return domains.filter((each) => state.domains[each]?.timeout?.time === String(value)).length
  }

  /** Returns what the leader says about itself; null while there is none. */
  async findStatus(): Promise<Record<string, unknown> | null> {
    for (const { current } of this.replicas) {
      if (current === null || current.process.exitCode !== null) continue
      const status = await readStatus(current.url, (path) => current.get(path, soon()))
      if (status?.['role'] === 'leader') return status
    }
    return null
  }

  /** Returns the replica that leads; null while none does. */
  async findLeader(): Promise<KeptReplica | null> {
    for (const replica of this.replicas) {
      const { current } = replica
      if (current === null) continue
      const status = await readStatus(current.url, (path) => current.get(path, soon()))
      if (status?.['role'] === 'leader') return replica
    }
    return null
  }

  async #listCalls(): Promise<Call[]> {
    return (await this.#ask('calls')) as Call[]
  }

  /** Asks the emulator, over a connection of its own: an idle one may just be closed. */
  async #ask(path: string): Promise<unknown> {
    const headers = { connection: 'close' }
    return (await fetch(`${this.#emulator.url}/_emulator/${path}`, { headers })).json()
  }

  async close(): Promise<void> {
    for (const gate of this.gates) gate.close()
    await this.remote.close()
    await this.#emulator.close()
    await this.server.stop()
    this.#sandbox.remove()
  }
}

const soon = () => ({ signal: AbortSignal.timeout(2000) })

async function readStatus(
  url: string,
  get: (path: string) => Promise<Response>,
): Promise<Record<string, unknown> | null> {
  try {
    const answer = await get('/api/status')
    return (await answer.json()) as Record<string, unknown>
  } catch (error) {
    // It may have ended, or be suspended.
    if (!(error instanceof Error)) throw new Error(`no answer of ${url}`, { cause: error })
    return null
  }
}
