import type { RecordedState } from '../../src/state/store/store.ts'
import type { WorkspaceConfig } from '../../src/manifest/workspace-file/workspace.ts'
import { Chance } from './chance.ts'
import { createConfig, service } from './config.ts'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import {
  drawCombination,
  drawFaults,
  drawServiceFaults,
  maxOffset,
  noFaults,
  type Faults,
} from './faults.ts'
import { Laws } from './laws.ts'
import type { Machine, Process } from './machine.ts'
import { Network } from './network.ts'
import { StateWorld, type StoreKind } from './state-world.ts'
import { loadRecorded, runApply, runUnlock, type Ending } from './runner.ts'
import { runSealed } from './seal.ts'
import { simulateRollout } from './simulate-rollout.ts'
import { Service } from './service.ts'
import { itemKeys, Workload } from './workload.ts'
import { World } from './world.ts'

const minute = 60_000
const maxDurationMs = 100 * 60 * minute
const maxRunsToSettle = 8
/** Every so many seeds also run a rollout; every so many have their state in a database. */
const [rolloutSeeds, databaseSeeds] = [4, 6]
/** Share of the seeds whose account offers DELETE. */
const deletingShare = 0.25

/** Result of a seed. */
export interface Simulated {
  seed: number
  violations: string[]
  /** Number of times that each event happened. */
  counts: Map<string, number>
  trace: string[]
}

/**
 * Runs one whole simulation. The same seed gives the same trace, byte for byte.
 *
 * @param store kind of its store; absent: the seed determines it
 */
export async function simulate(seed: number, store?: StoreKind): Promise<Simulated> {
  const kind = store ?? (seed % databaseSeeds === 0 ? 'postgres' : undefined)
  const applies = await simulateApplies(seed, kind)
  if (seed % rolloutSeeds !== 0) return applies
  const rollouts = await simulateRollout(seed, kind ?? 'shared folder')
  return {
    seed,
    violations: [...applies.violations, ...rollouts.violations],
    counts: new Map([...applies.counts, ...rollouts.counts]),
    trace: [...applies.trace, ...rollouts.trace],
  }
}

async function simulateApplies(seed: number, kind?: StoreKind): Promise<Simulated> {
  const world = new World()
  try {
    await runSealed(world, () =>
      world.passUntil(new Simulation(world, new Chance(`seed ${seed}`), kind).run(), maxDurationMs),
    )
  } catch (error) {
    world.violated(
      'the simulation ends',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
  }
  return { seed, violations: world.violations, counts: world.counts, trace: world.trace }
}

class Simulation {
  readonly #world: World
  readonly #chance: Chance
  readonly #config: WorkspaceConfig
  readonly #workload: Workload
  readonly #service: Service
  readonly #serviceFaults: Fault[]
  readonly #laws: Laws
  readonly #network: Network
  readonly #record: StateWorld
  readonly #faults: Faults
  #healed = false
  #runs = 0
  /** Runs that follow the removal of a lock. */
  readonly #successors: Promise<unknown>[] = []

  constructor(world: World, chance: Chance, store?: StoreKind) {
    this.#world = world
    this.#chance = chance
    const unset = chance.fork('unset').happens(deletingShare)
    this.#workload = new Workload(chance.fork('workload'), unset)
    this.#faults = drawFaults(chance.fork('faults'))
    const drawn = chance.pick<StoreKind>([
      'folder',
      'shared folder',
      'git',
      'git with remote',
      'git with remote',
    ])
    const kind = store ?? drawn
    this.#record = new StateWorld(world, this.#faults, kind, service)
    const config = createConfig(chance.fork('config'), this.#record.state)
    this.#config = { ...config, service: { ...config.service, unset } }
    const { limits } = this.#config
    world.count(`record: ${kind}`)
    this.#serviceFaults =
      drawCombination(chance.fork('combination'), this.#workload.desired()) ??
      drawServiceFaults(chance.fork('service'), this.#workload.domains, itemKeys)
    this.#service = new Service(
      world,
      `${chance.draw()}`,
      limits.callsPerMinute,
      chance.pick(['status', 'body']),
      this.#serviceFaults,
    )
    const settleMs = this.#config.service.settleSeconds * 1000
    this.#laws = new Laws(world, limits.callsPerMinute, settleMs)
    this.#network = new Network(world, this.#service, this.#laws, settleMs, this.#faults)
    this.#laws.lockedBy(() => this.#record.findLockHolder())
    world.onEvent = () => this.#laws.watchLock()
    this.#network.onStall = (process) => this.#suspend(process, process.chance.fork('stall'))
  }

  /** Runs some rounds with faults, then applies until everything has settled. */
  async run(): Promise<void> {
    for (const machine of this.#record.machines) {
      machine.offset = this.#chance.between(-maxOffset, maxOffset)
      this.#drawMachineFaults(machine)
    }
    this.#drawRewinds()
    this.#drawRestarts()
    for (let rounds = this.#chance.between(1, 4); rounds > 0; rounds--) {
      await this.#round()
      this.#workload.edit()
    }
    this.#healed = true
    Object.assign(this.#faults, noFaults)
    for (const machine of this.#record.machines) machine.cutOffUntil = 0
    this.#record.restore()
    this.#service.heal()
    await this.#settle()
  }

  /** Applies the manifests, perhaps with several runners at once, and again after a killed run. */
  async #round(): Promise<void> {
    const chance = this.#chance
    const runs: Promise<unknown>[] = [this.#runRepeatedly(chance.pick(this.#record.machines))]
    while (runs.length < 3 && chance.happens(this.#faults.rival)) {
      this.#world.count('runs side by side')
      await this.#wait(chance.between(0, 2 * minute))
      runs.push(this.#run(chance.pick(this.#record.machines)))
    }
    await Promise.all(runs)
    while (this.#successors.length > 0) await this.#successors.pop()
    await this.#wait(chance.happens(0.5) ? chance.between(0, 5000) : chance.between(0, 4 * minute))
  }

  /**
   * Runs an apply, and another one on the same machine at once if it was killed, perhaps with other
   * manifests.
   */
  async #runRepeatedly(machine: Machine): Promise<void> {
    const ending = await this.#run(machine)
    if (ending !== 'killed' || this.#chance.happens(0.3)) return
    await this.#wait(this.#chance.between(0, 2000))
    const change = this.#chance.pick(['revert', 'edit', 'none'])
    if (change === 'revert') this.#workload.revert()
    if (change === 'edit') this.#workload.edit()
    return this.#runRepeatedly(machine)
  }

  async #settle(): Promise<void> {
    for (let runs = 0; ; runs++) {
      const ending = await this.#run(this.#chance.pick(this.#record.machines))
      if (ending === 'settled') break
      if (runs === maxRunsToSettle)
        return this.#world.violated('everything settles', `not after ${runs} undisturbed runs`)
      // Calls of a killed run may count for longer than a run waits for the call budget.
      await this.#wait(minute)
    }
    await this.#wait(minute)
    this.#laws.checkState(await this.#loadState(), this.#service, 'in the end')
    if (!this.#record.keepsRival())
      this.#world.violated('changes of others are kept', 'the last rival push is gone')
    const { unset } = this.#config.service
    this.#laws.checkDesired(this.#workload.desired(), this.#service, unset)
  }

  async #run(machine: Machine): Promise<Ending> {
    const chance = this.#chance.fork(`run ${++this.#runs}`)
    const faults = this.#faults
    const steps = chance.happens(faults.killed) ? chance.between(1, faults.latestStep) : Infinity
    if (chance.happens(0.5)) this.#record.forget(machine)
    const process = machine.start(`${this.#runs}`, chance, steps)
    const interrupt = new AbortController()
    if (chance.happens(faults.interrupted)) {
      process.after(chance.between(0, 2 * minute), () => {
        this.#world.count('run: interrupted')
        process.log('is interrupted')
        interrupt.abort()
      })
    }
    const suspension = chance.fork('suspension')
    if (suspension.happens(faults.suspended))
      process.afterSteps(suspension.between(1, suspension.pick([50, 150, 500])), () =>
        this.#suspend(process, suspension),
      )
    return runApply({
      process,
      config: this.#config,
      desired: this.#workload.desired(),
      network: this.#network,
      stateWorld: this.#record,
      lockTimeoutMs: this.#healed ? 5 * minute : chance.pick([0, 10_000, 5 * minute]),
      signal: interrupt.signal,
      loaded: (recorded) => {
        // A process that was suspended while it loaded has old state, which it can't write.
        if (this.#record.findLockHolder()?.name === process.name)
          this.#laws.checkState(recorded, this.#service, `as ${process.name} loads it`)
      },
      marked: () => this.#laws.marked(process),
      refused: (part) => {
        this.#laws.checkIsolated(part, this.#serviceFaults, this.#config.grouping)
      },
    })
  }

  /** Suspends a process; perhaps somebody removes its lock meanwhile and starts another apply. */
  #suspend(process: Process, chance: Chance): void {
    process.suspend(chance.pick([chance.between(0, 5000), chance.between(0, 5 * minute)]))
    if (!chance.happens(this.#faults.unlocked)) return
    this.#successors.push(
      this.#wait(chance.between(0, 10_000)).then(async () => {
        const machine = chance.happens(0.5) ? process.machine : chance.pick(this.#record.machines)
        await this.#unlock(machine, chance)
        this.#workload.edit()
        await this.#run(chance.pick(this.#record.machines))
      }),
    )
  }

  /** Runs `edgewise state unlock --yes`. */
  async #unlock(machine: Machine, chance: Chance): Promise<void> {
    const process = machine.start(`${++this.#runs}`, chance.fork('unlock'), Infinity)
    process.log('removes the lock')
    const unlocking = {
      process,
      config: this.#config,
      desired: new Map(),
      network: this.#network,
      stateWorld: this.#record,
    }
    const ended = await runUnlock(unlocking, chance.happens(0.7))
    this.#world.count(`unlock: ${ended}`)
  }

  #loadState(): Promise<RecordedState> {
    const [machine] = this.#record.machines
    if (machine === undefined) throw new TypeError('expected a machine')
    const process = machine.start('looks', this.#chance.fork('looks'), Infinity)
    return loadRecorded({
      process,
      config: this.#config,
      desired: new Map(),
      network: this.#network,
      stateWorld: this.#record,
    })
  }

  /** Draws the faults of a machine each minute. */
  #drawMachineFaults(machine: Machine): void {
    const chance = this.#chance.fork(`weather of ${machine.name}`)
    const next = () =>
      this.#world.after(chance.between(1, minute), () => {
        const { clockSet, standStill, powerCut, rivalPush, cutOff } = this.#faults
        if (this.#healed) return
        if (chance.happens(clockSet)) {
          machine.offset = chance.between(-maxOffset, maxOffset)
          this.#world.count('clock: set')
          this.#world.log(machine.name, `its clock is set to ${machine.offset} ms`)
        }
        if (chance.happens(standStill)) {
          const asleep = chance.happens(0.5)
          machine.standStill(chance.between(1000, 3 * minute), asleep)
          this.#world.count(asleep ? 'machine: asleep' : 'machine: stands still')
          this.#world.log(machine.name, asleep ? 'falls asleep' : 'stands still')
        }
        if (chance.happens(powerCut)) {
          this.#world.count('crash: power cut')
          this.#world.log(machine.name, 'loses its power')
          this.#record.losePower(machine, chance)
        }
        if (this.#record.isRemote && chance.happens(cutOff)) {
          machine.cutOffUntil = this.#world.time + chance.between(1000, 4 * minute)
          this.#world.count(`${this.#record.state.store}: cut off`)
          this.#world.log(machine.name, 'is cut off from the store')
        }
        if (chance.happens(rivalPush)) this.#record.rivalPush()
        next()
      })
    next()
  }

  /** Sets the remote's branch back for some minutes now and then. */
  #drawRewinds(): void {
    const chance = this.#chance.fork('rewinds')
    const next = () =>
      this.#world.after(chance.between(1, minute), () => {
        if (this.#healed) return
        if (chance.happens(this.#faults.rewind) && this.#record.rewind(chance))
          this.#world.after(chance.between(1000, 4 * minute), () => this.#record.restore())
        next()
      })
    if (this.#record.kind === 'git with remote') next()
  }

  /** Restarts the database now and then. */
  #drawRestarts(): void {
    const chance = this.#chance.fork('restarts')
    const next = () =>
      this.#world.after(chance.between(1, minute), () => {
        if (this.#healed) return
        if (chance.happens(this.#faults.restart))
          this.#record.restartDatabase(chance.between(100, 45_000))
        next()
      })
    if (this.#record.kind === 'postgres') next()
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(ms, resolve)
    })
  }
}
