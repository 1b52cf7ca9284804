import { EdgewiseError } from '../../../src/core/model/edgewise-error.ts'
import type { StateConfig } from '../../../src/core/model/config.ts'
import type { Domain } from '../../../src/core/model/item.ts'
import { isObject, type Json } from '../../../src/core/model/json.ts'
import type { WorkspaceConfig } from '../../../src/manifest/workspace-file/workspace.ts'
import { drift } from '../../../src/operations/drift.ts'
import type { Rules } from '../../../src/operations/people/decide.ts'
import type { LoadedWorkspace } from '../../../src/operations/runtime/load-workspace.ts'
import type { Outside } from '../../../src/operations/runtime/parts.ts'
import type { Controller } from '../../../src/server/controller.ts'
import { createLogger } from '../../../src/server/logger.ts'
import type { SourceContext } from '../../../src/server/pages/create-page-source.ts'
import { serve } from '../../../src/server/serve.ts'
import type { Transport } from '../../../src/service/transport.ts'
import { Chance } from '../chance.ts'
import { createConfig, service as address } from '../config.ts'
import { noFaults, type Faults } from '../faults.ts'
import { Laws } from '../laws.ts'
import type { Machine, Process } from '../machine.ts'
import { Network } from '../network.ts'
import { createWorkspace } from '../runner.ts'
import { Service } from '../service.ts'
import { StateWorld } from '../state-world.ts'
import { World } from '../world.ts'
import { Repository } from './repository.ts'

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
const callsPerMinute = 30
const maxLogLines = 200

/** World whose trace is not kept. */
export class LongWorld extends World {
  override log(): void {}
}

/** A replica of the controller that runs now. */
export interface Replica {
  process: Process
  interrupt: AbortController
  /** Null until it answers. */
  controller: Controller | null
}

/** What a replica makes pages of. */
export type AskedPage = Parameters<SourceContext['ownPage']>[0]

/** What a simulation has beside: without it, there are no pages, receivers and roles. */
export interface Extras {
  /** Makes a page of a workspace, as a process of its own would. */
  makePage(page: AskedPage, workspace: LoadedWorkspace, outside: Outside): Promise<string>
  /** Who may decide by each commit. */
  rules: Rules
  /** Address of a receiver of notifications; empty for none. */
  receiver: string
}

const noExtras: Extras = {
  // Pages that can't be made never stop a replica.
  makePage: () => Promise.reject(new Error('no pages here')),
  rules: { roles: [], needs: { by: 1, notAuthor: false } },
  receiver: '',
}

/**
 * Surroundings of `edgewise serve`: a repository, a database, the service, and a replica on each of
 * two machines, which starts again when it has ended.
 */
export class ServeWorld {
  readonly world: World
  readonly chance: Chance
  readonly faults: Faults = { ...noFaults }
  readonly service: Service
  readonly repository = new Repository()
  readonly record: StateWorld
  readonly replicas = new Map<Machine, Replica>()
  /** Last lines of the logs. */
  readonly log: string[] = []
  /** Bodies that the receiver of notifications got, first to last. */
  readonly received: string[] = []
  /** Time that the observation of the service takes, ms. */
  observeMs = 5 * second
  /** Wait between two fetches, ms. */
  pollMs = 5 * minute
  readonly #network: Network
  readonly #config: WorkspaceConfig
  readonly #extras: Extras
  #ended: Promise<unknown> = Promise.resolve()
  #isOver = false
  #starts = 0

  /** @param deadOrigins origins that do not answer */
  constructor(
    world: World,
    seed: string,
    changes: Partial<WorkspaceConfig>,
    deadOrigins: string[] = [],
    extras: Partial<Extras> = {},
  ) {
    this.world = world
    this.#extras = { ...noExtras, ...extras }
    this.chance = new Chance(seed)
    this.record = new StateWorld(world, this.faults, 'postgres', address)
    this.service = new Service(world, seed, callsPerMinute, 'status', [], deadOrigins)
    this.#config = { ...configure(this.record.state), ...changes }
    const settleMs = this.#config.service.settleSeconds * second
    const laws = new Laws(world, callsPerMinute, settleMs)
    laws.lockedBy(() => this.record.findLockHolder())
    world.onEvent = () => laws.watchLock()
    this.#network = new Network(world, this.service, laws, settleMs, this.faults)
  }

  /** Starts a replica on each machine. */
  start(): void {
    this.#ended = Promise.all(this.record.machines.map((machine) => this.#keepReplica(machine)))
  }

  /** Stops all replicas, and waits for their ends. */
  async stop(): Promise<void> {
    this.#isOver = true
    for (const { interrupt } of this.replicas.values()) interrupt.abort()
    await this.#ended
  }

  async findLeader(): Promise<Controller | null> {
    for (const { controller } of this.replicas.values()) {
      const status = (await controller?.status()) ?? null
      if (isObject(status) && status['role'] === 'leader') return controller
    }
    return null
  }

  /** Lists what `edgewise drift --observed` prints, by the names of the parts. */
  async listDrift(): Promise<Map<string, string>> {
    const [machine] = this.record.machines
    if (machine === undefined) throw new TypeError('expected a machine')
    const process = machine.start('looks', this.chance.fork('looks'), Infinity)
    const workspace = createWorkspace({ config: this.#config, desired: this.repository.desired })
    const outside = this.#createOutside(process, new AbortController().signal)
    const found = await drift(workspace, { observe: () => this.#observe(process) }, outside)
    const differing = found.drift.items.flatMap((each): [string, string][] => {
      const { domain, item, kinds, confidence, held } = each
      const words = [...kinds, ...(held ? ['on hold'] : []), confidence]
      const differs = kinds.length > 0 || confidence === 'in-doubt'
      return differs ? [[`${item} of ${domain}`, words.join(', ')]] : []
    })
    process.end()
    return new Map(differing)
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.after(ms, resolve)
    })
  }

  /** Runs replicas on a machine, one after another, as a cluster does. */
  async #keepReplica(machine: Machine): Promise<void> {
    while (!this.#isOver) {
      const name = `serve${++this.#starts}`
      const process = machine.start(name, this.chance.fork(name), Infinity)
      const replica: Replica = { process, interrupt: new AbortController(), controller: null }
      this.replicas.set(machine, replica)
      const ended = await Promise.race([process.killed, this.#serve(replica)])
      this.world.count(`replica: ${ended}`)
      if (ended !== 'killed') process.end()
      await this.wait(this.chance.between(5, 20) * second)
    }
  }

  /** Runs a replica until its end; returns how it ended. */
  async #serve(replica: Replica): Promise<string> {
    const { process, interrupt } = replica
    const { clock } = process
    const out = (line: string) => this.#keepLog(`${process.name} ${line.trimEnd()}`)
    const options = { repository: null, cwd: '/', branch: null, folder: null, dataFolder: '/' }
    try {
      return await serve(
        { ...options, pollMs: this.pollMs },
        {
          outside: this.#createOutside(process, interrupt.signal),
          logger: createLogger({ clock, out, format: 'text', level: 'info' }),
          openBranch: async () => this.repository.open(process),
          loadCommit: async (_branch, commit) => this.#load(commit),
          loadRules: async () => this.#extras.rules,
          buildDriftRequest: () => ({ observe: () => this.#observe(process) }),
          ownPage: (page, root, outside) =>
            this.#extras.makePage(page, this.#load(root.slice(1)), outside),
          listen: async (controller) => {
            replica.controller = controller
            return { lead: () => undefined, close: async () => undefined }
          },
        },
      )
    } catch (error) {
      if (error instanceof EdgewiseError) return `failed: ${error.code}`
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.world.violated('no defect shows', text)
      return 'defect'
    }
  }

  #load(commit: string) {
    const { desired, committed, config } = this.repository.read(commit)
    const workspace = createWorkspace({ config: { ...this.#config, ...config }, desired })
    // The branch is never forced: ids are numbers that grow.
    const relate = (id: string) => (id <= commit ? ('contained' as const) : ('later' as const))
    return {
      ...workspace,
      findTree: async () => ({ commit, ...(committed === undefined ? {} : { committed }) }),
      relateCommits: async (ids: Iterable<string>) =>
        new Map([...ids].map((id) => [id, relate(id)])),
      commit,
    }
  }

  #createOutside(process: Process, signal: AbortSignal): Outside {
    const { clock, chance } = process
    const { createPool, ...surroundings } = this.record.createOutside(process)
    const { database } = this.#config.state
    if (createPool === undefined || database === undefined)
      throw new TypeError('expected state in a database')
    const pool = createPool(database)
    let ids = 0
    return {
      env: {},
      clock,
      random: () => chance.draw(),
      newId: () => `${process.name}-${++ids}`,
      user: process.name,
      signal,
      solver: null,
      transport: this.#createTransport(process),
      ...surroundings,
      createPool: () => pool,
    }
  }

  #createTransport(process: Process): Transport {
    const transport = this.#network.createTransport(process)
    const { receiver } = this.#extras
    return (request) =>
      receiver !== '' && request.url.startsWith(receiver)
        ? process.step(process.chance.between(5, 400), 'notifies', () => {
            this.received.push(request.body ?? '')
            return { status: 200, header: () => null, body: '' }
          })
        : transport(request)
  }

  /** What a program would print that reads the service: the items of all domains. */
  #observe(process: Process): Promise<Json> {
    return process.step(this.observeMs, 'observes', () => {
      const all = this.service
        .domains()
        .map((domain): [Domain, Json] => [domain, Object.fromEntries(this.service.holds(domain))])
      return Object.fromEntries(all)
    })
  }

  #keepLog(line: string): void {
    this.log.push(line)
    if (this.log.length > maxLogLines) this.log.shift()
  }
}

function configure(state: StateConfig): WorkspaceConfig {
  const config = createConfig(new Chance('config'), state)
  return {
    ...config,
    limits: {
      callsPerMinute,
      domainsPerWrite: 10,
      maxWaitSeconds: 300,
      readsPerMinute: 30,
      burst: null,
    },
    serve: {
      ...config.serve,
      drift: { schedule: '*/15 * * * *', observed: 'live', repair: true },
    },
  }
}
