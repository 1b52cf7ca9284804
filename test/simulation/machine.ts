import type { Clock } from '../../src/core/model/time/clock.ts'
import type { Machine as MachineOutside } from '../../src/state/locks/machine.ts'
import type { Chance } from './chance.ts'
import type { World } from './world.ts'

/** Machine of the simulation: its wall clock may be wrong, and it may stand still for a while. */
export class Machine {
  readonly name: string
  readonly world: World
  /** Error of the wall clock, ms. */
  offset = 0
  /** End of its standstill, true time. */
  standsStillUntil = 0
  /** Time for which its monotonic clock stood still as well, as in a machine that is asleep, ms. */
  asleepMs = 0
  /** End of its lack of a remote repository, true time. */
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

  /** Returns a name for the time since its last boot. */
  get boot(): string {
    return `${this.name}-boot-${this.#boots}`
  }

  start(name: string, chance: Chance, stepsToLive: number): Process {
    const pid = this.#findPid()
    const process = new Process(this, `${this.name}.${name}`, pid, chance, stepsToLive)
    this.processes.add(process)
    return process
  }

  /** Finds a free process number; those of ended processes are soon reused. */
  #findPid(): number {
    for (let tries = 0; tries < 7; tries++) {
      const pid = 100 + (++this.#started % 7)
      if (!this.runs(pid)) return pid
    }
    return 200 + this.#started
  }

  /** Stops the machine for a time; asleep, its monotonic clock stops as well. */
  standStill(ms: number, asleep: boolean): void {
    const until = Math.max(this.standsStillUntil, this.world.time + ms)
    if (asleep) this.asleepMs += until - Math.max(this.standsStillUntil, this.world.time)
    this.standsStillUntil = until
  }

  /** Returns whether a process runs; with its name, whether the same one does. */
  runs(pid: number, name = ''): boolean {
    return [...this.processes].some(
      (process) => process.pid === pid && process.alive && [process.name, ''].includes(name),
    )
  }

  /** Ends all processes of the machine at once. */
  switchOff(): void {
    this.#boots++
    this.bootedAt = this.world.time
    this.asleepMs = 0
    for (const process of this.processes) process.kill('the power failed')
  }
}

/**
 * Process of the product. Every contact with the outside goes through it, so that it can die at any
 * step.
 */
export class Process {
  readonly machine: Machine
  readonly name: string
  readonly pid: number
  alive = true
  diedAt = Infinity
  /** End of its suspension (SIGSTOP), true time; its clocks go on. */
  suspendedUntil = 0
  /** Resolves when the process is killed. */
  readonly killed: Promise<'killed'>
  readonly chance: Chance
  /** Clock of the process, passed to the product. */
  readonly clock: Clock
  #stepsToLive: number
  #stepsToSuspension = Infinity
  #onSuspension: () => void = () => {}
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

  /** Returns the machine and the process as the product sees them. */
  outside(): MachineOutside {
    const { machine, pid } = this
    return {
      boot: machine.boot,
      namespace: machine.name,
      pid,
      started: this.name,
      uptime: () => this.world.time - machine.bootedAt,
      processName: `${machine.name}-${pid}`,
      isRunning: (other, started) => machine.runs(other, started),
    }
  }

  log(what: string): void {
    this.world.log(this.name, what)
  }

  /** Suspends the process for a time. What it has sent goes on. */
  suspend(ms: number): void {
    this.suspendedUntil = Math.max(this.suspendedUntil, this.world.time + ms)
    this.world.count('process: suspended')
    this.log(`is suspended for ${ms} ms`)
  }

  kill(why: string): void {
    if (!this.alive) return
    this.alive = false
    this.diedAt = this.world.time
    this.machine.processes.delete(this)
    this.log(`dies: ${why}`)
    this.#announce('killed')
  }

  /** Ends the process after its work. */
  end(): void {
    this.alive = false
    this.machine.processes.delete(this)
  }

  /**
   * Runs something in this process after a time, if it is still alive, and not while it is
   * suspended or its machine stands still.
   */
  after(ms: number, run: () => void): void {
    this.world.after(ms, () => {
      const wait = Math.max(this.machine.standsStillUntil, this.suspendedUntil) - this.world.time
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
   * Runs one step: a contact with the outside, which takes time. The process may die before it,
   * after it without a result, or during it, if it can be done `partly`. A dead process does
   * nothing and gets no result.
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

  /** Calls back at one of the next steps. */
  afterSteps(steps: number, run: () => void): void {
    this.#stepsToSuspension = steps
    this.#onSuspension = run
  }

  /** Lets the process die if its time has come; returns whether it did. */
  mayDie(when: string): boolean {
    if (--this.#stepsToSuspension === 0) this.#onSuspension()
    if (--this.#stepsToLive > 0) return false
    this.world.count('crash: process killed')
    this.kill(when)
    return true
  }
}
