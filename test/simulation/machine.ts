import type { Clock } from '../../src/model/clock.ts'
import type { Machine as MachineOutside } from '../../src/state/lock.ts'
import type { Chance } from './chance.ts'
import type { World } from './world.ts'

/** A machine of the simulation: its wall clock may be wrong, and it may stand still for a while. */
export class Machine {
  readonly name: string
  readonly world: World
  /** By how much its wall clock is wrong, ms. */
  offset = 0
  /** Nothing happens in it before then (true time). */
  standsStillUntil = 0
  /**
   * For how long its monotonic clock has stood still as well, as it does in a machine that is
   * asleep, ms.
   */
  asleepMs = 0
  /** It reaches no remote repository before then (true time). */
  cutOffUntil = 0
  readonly processes = new Set<Process>()
  bootedAt: number
  #boots = 1
  #started = 0

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
    this.bootedAt = world.time - 3_600_000
  }

  /** Names the time since it was last switched on. */
  get boot(): string {
    return `${this.name}-boot-${this.#boots}`
  }

  start(name: string, chance: Chance, stepsToLive: number): Process {
    // The numbers of processes that are gone are soon given again.
    do this.#started++
    while (this.runs(100 + (this.#started % 7)))
    const process = new Process(
      this,
      `${this.name}.${name}`,
      100 + (this.#started % 7),
      chance,
      stepsToLive,
    )
    this.processes.add(process)
    return process
  }

  /** Nothing happens in it for so long; asleep, its monotonic clock stops too. */
  standStill(ms: number, asleep: boolean): void {
    const until = Math.max(this.standsStillUntil, this.world.time + ms)
    if (asleep) this.asleepMs += until - Math.max(this.standsStillUntil, this.world.time)
    this.standsStillUntil = until
  }

  runs(pid: number): boolean {
    return [...this.processes].some((process) => process.pid === pid && process.alive)
  }

  /** Ends everything that runs in it, at once. */
  switchOff(): void {
    this.#boots++
    this.bootedAt = this.world.time
    this.asleepMs = 0
    for (const process of this.processes) process.kill('the power failed')
  }
}

/**
 * A process: everything that the product does to the outside goes through one, so that it can end
 * at any step.
 */
export class Process {
  readonly machine: Machine
  readonly name: string
  readonly pid: number
  alive = true
  diedAt = Infinity
  /** Resolves when it was killed. */
  readonly killed: Promise<'killed'>
  readonly chance: Chance
  /** What is real for the process itself, handed to the product. */
  readonly clock: Clock
  #stepsToLive: number
  #announce: (how: 'killed') => void = () => {}

  constructor(machine: Machine, name: string, pid: number, chance: Chance, stepsToLive: number) {
    this.machine = machine
    this.name = name
    this.pid = pid
    this.chance = chance
    this.#stepsToLive = stepsToLive
    this.killed = new Promise((resolve) => {
      this.#announce = resolve
    })
    this.clock = {
      now: () => this.world.time + machine.offset,
      monotonic: () => this.world.time - machine.bootedAt - machine.asleepMs,
      sleep: (ms, signal) => this.sleep(ms, signal),
    }
  }

  get world(): World {
    return this.machine.world
  }

  /** The machine and the process, as the product is told of them. */
  outside(): MachineOutside {
    const { machine, pid } = this
    return {
      boot: machine.boot,
      namespace: machine.name,
      pid,
      uptime: () => this.world.time - machine.bootedAt,
      processName: `${machine.name}-${pid}`,
      isRunning: (other) => machine.runs(other),
    }
  }

  log(what: string): void {
    this.world.log(this.name, what)
  }

  kill(why: string): void {
    if (!this.alive) return
    this.alive = false
    this.diedAt = this.world.time
    this.machine.processes.delete(this)
    this.log(`dies: ${why}`)
    this.#announce('killed')
  }

  /** It has done what it was started for. */
  end(): void {
    this.alive = false
    this.machine.processes.delete(this)
  }

  /**
   * Lets something happen in this process after so long, if it still lives then, and not while its
   * machine stands still.
   */
  after(ms: number, run: () => void): void {
    this.world.after(ms, () => {
      const wait = this.machine.standsStillUntil - this.world.time
      if (!this.alive) return
      if (wait > 0) this.after(wait, run)
      else run()
    })
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      let woken = false
      const wake = () => {
        if (woken) return
        woken = true
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      this.after(ms, wake)
    })
  }

  /**
   * One step: something that the process does to the outside, which takes so long. It may be the
   * last thing it does, and it may die before it hears what came of it; or in the midst of it,
   * where it can be done `partly`. A dead process does nothing and hears nothing.
   */
  step<T>(ms: number, what: string, act: () => T, partly?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return
      if (this.mayDie(`before: ${what}`)) {
        if (this.chance.happens(0.5)) partly?.()
        return
      }
      this.after(ms, () => {
        let result: () => void
        try {
          const value = act()
          result = () => resolve(value)
        } catch (error) {
          result = () => reject(error)
        }
        if (!this.mayDie(`after: ${what}`)) result()
      })
    })
  }

  /** A moment in which the process may die; whether it did. */
  mayDie(when: string): boolean {
    if (--this.#stepsToLive > 0) return false
    this.world.count('crash: process killed')
    this.kill(when)
    return true
  }
}
