import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import {
  createItemState,
  type Domain,
  type ItemKey,
  type Snapshot,
} from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { Transport } from '../../src/service/transport.ts'
import { Chance } from './chance.ts'
import { createConfig, service as address } from './config.ts'
import { noFaults } from './faults.ts'
import type { Process } from './machine.ts'
import { runApply, runDecision, type Ending, type Run } from './runner.ts'
import { runSealed } from './seal.ts'
import { Service } from './service.ts'
import type { Simulated } from './simulate.ts'
import { StateWorld, type StoreKind } from './state-world.ts'
import { World } from './world.ts'

const minute = 60_000
const hour = 60 * minute
const maxDurationMs = 48 * hour
/** Runs that may die; later ones do not, so that every rollout ends. */
const maxRuns = 12
const pauseSeconds = 600
/** A `Date` has whole seconds, and an answer takes some time. */
const toleranceMs = 3000
const [good, alsoGood, dead] = ['192.0.2.10', '192.0.2.11', '192.0.2.66']
const domains = Array.from({ length: 6 }, (_, i): Domain => `d${i}.example.com`)
const item = 'origin'

/**
 * Runs a rollout in two waves by machines whose clocks are wrong by minutes or hours, and that die.
 * The same seed gives the same trace.
 */
export async function simulateRollout(seed: number, kind: StoreKind): Promise<Simulated> {
  const world = new World()
  try {
    await runSealed(world, () =>
      world.passUntil(new Rollout(world, new Chance(`rollout ${seed}`), kind).run(), maxDurationMs),
    )
  } catch (error) {
    world.violated(
      'the simulation ends',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
  }
  return { seed, violations: world.violations, counts: world.counts, trace: world.trace }
}

/** A run of the rollout. */
interface Applying {
  waves: boolean
  mayDie: boolean
  /** Time-out beside the origin, s; absent for none. */
  seconds?: number
  allows?: Run['allows']
}

class Rollout {
  readonly #world: World
  readonly #chance: Chance
  readonly #service: Service
  readonly #stateWorld: StateWorld
  /** True times of the writes of the rollout, by their number of domains. */
  readonly #writes: { at: number; domains: number }[] = []
  /** Numbers of the waves that need approval, and the number of approvals begun. */
  readonly #approval: number[]
  #decisions = 0
  #isInWaves = false
  /** A value that no write may have now. */
  #forbidden: { origin: string; law: string } | null = null
  #runs = 0

  constructor(world: World, chance: Chance, kind: StoreKind) {
    this.#world = world
    this.#chance = chance
    this.#service = new Service(world, `${chance.draw()}`, 30, 'status', [], [dead])
    this.#approval = chance.fork('approval').pick([[], [], [2], [1, 2]])
    this.#stateWorld = new StateWorld(world, { ...noFaults }, kind, address)
  }

  async run(): Promise<void> {
    const isBroken = this.#chance.happens(0.5)
    this.#world.count(`rollout: ${isBroken ? 'broken' : 'good'} change`)
    await this.#apply(good, { waves: false, mayDie: false })
    await this.#wait(3 * hour)
    for (const machine of this.#stateWorld.machines) machine.offset = this.#drawSkew()
    this.#writes.length = 0
    this.#isInWaves = true
    let ending: Ending = 'killed'
    let previous: Ending = 'killed'
    const isOver = () => ending !== 'killed' && ending !== 'waiting'
    for (let runs = 0; !isOver() && runs < 3 * maxRuns; runs++) {
      if (ending === 'waiting') await this.#decide('approve', runs + 1 < maxRuns)
      previous = ending
      ending = await this.#apply(isBroken ? dead : alsoGood, {
        waves: true,
        mayDie: runs + 1 < maxRuns,
      })
      await this.#wait(this.#chance.between(0, 2 * minute))
    }
    // A run that dies once the stop is recorded leaves nothing to send: its values are on hold.
    const isStoppedBefore = isBroken && previous === 'killed' && this.#writes.length > 0
    const expected = isStoppedBefore
      ? ['incomplete', 'settled']
      : isBroken
        ? ['incomplete']
        : ['complete', 'settled']
    if (!expected.includes(ending))
      this.#world.violated('a good wave passes, and a bad one does not', `the end is ${ending}`)
    this.#checkSpread(isBroken)
    this.#checkPause()
    this.#isInWaves = false
    if (isBroken) await this.#editBesideStopped()
    else await this.#returnFromStaleClone()
  }

  /** Applies other values after a stop, and in the end the stopped one. */
  async #editBesideStopped(): Promise<void> {
    for (const seconds of [10, 20, 30]) {
      this.#forbidden = {
        origin: dead,
        law: 'a value that a rollout stopped is not sent again unless somebody repeats it',
      }
      await this.#apply(dead, { waves: this.#chance.happens(0.5), mayDie: true, seconds })
      await this.#wait(2 * minute)
    }
    this.#forbidden = null
    await this.#decide('abort', false)
    const allows = { retryHeld: true }
    const ending = await this.#apply(dead, { waves: false, mayDie: false, seconds: 30, allows })
    this.#checkAll(dead, ending)
  }

  /** Applies the first commit again, without and with consent to older values. */
  async #returnFromStaleClone(): Promise<void> {
    this.#forbidden = {
      origin: good,
      law: 'an apply never sends a value older than the confirmed one unless told',
    }
    await this.#apply(good, { waves: this.#chance.happens(0.5), mayDie: true })
    await this.#wait(2 * minute)
    this.#forbidden = null
    await this.#decide('abort', false)
    const allows = { allowOlder: true, retryHeld: true }
    this.#checkAll(good, await this.#apply(good, { waves: false, mayDie: false, allows }))
  }

  /** Checks that what was asked for in the end is sent. */
  #checkAll(origin: string, ending: Ending): void {
    const reached = domains.filter((domain) =>
      JSON.stringify(this.#service.holds(domain).get(item)).includes(origin),
    )
    if (reached.length < domains.length)
      this.#world.violated('what is repeated is sent', `${reached.length} domains, ${ending}`)
  }

  /** Checks that a change that breaks its first wave reaches no other domain. */
  #checkSpread(isBroken: boolean): void {
    const broken = domains.filter((domain) =>
      JSON.stringify(this.#service.holds(domain).get(item)).includes(dead),
    )
    if (broken.length !== (isBroken ? 1 : 0))
      this.#world.violated('a broken wave does not spread', `${broken.length} domains are broken`)
  }

  /** Checks that a write of a wave was approved: each approval is of one wave. */
  #checkApproval(wave: number): void {
    const needed = this.#approval.filter((number) => number <= wave).length
    if (this.#decisions < needed)
      this.#world.violated('no wave is sent before its approval', `wave ${wave} was sent`)
  }

  #checkPause(): void {
    const first = this.#writes.findLast((write) => write.domains === 1)
    const second = this.#writes.find((write) => write.domains > 1)
    if (first === undefined || second === undefined) return
    const pauseMs = second.at - first.at
    if (pauseMs < pauseSeconds * 1000 - toleranceMs)
      this.#world.violated('a pause is kept', `it had ${pauseMs} ms`)
  }

  /** Draws the error of a clock: minutes or hours, behind or ahead. */
  #drawSkew(): number {
    const size = this.#chance.pick([0, 10 * minute, 3 * hour])
    if (size > 0) this.#world.count('clock: skew')
    return this.#chance.between(-size, size)
  }

  #apply(origin: string, { waves, mayDie, seconds, allows }: Applying): Promise<Ending> {
    const chance = this.#chance.fork(`run ${++this.#runs}`)
    const process = chance.pick(this.#stateWorld.machines).start(`${this.#runs}`, chance, Infinity)
    if (mayDie && chance.happens(0.6))
      process.after(chance.between(1, 40 * minute), () => process.kill('the runner is stopped'))
    const config = createConfig(new Chance('config'), this.#stateWorld.state)
    const health = {
      area: 'all' as const,
      settle: 300,
      lag: 600,
      window: 900,
      grain: 'minute5' as const,
      statuses: ['5xx'],
      minRequests: 500,
      margin: 1,
      onLittleData: 'wait' as const,
      onFailure: 'stop' as const,
      after: 3600,
    }
    const judged = this.#chance.fork('health').happens(0.7)
    return runApply({
      process,
      config: {
        ...config,
        limits: {
          callsPerMinute: 30,
          domainsPerWrite: 10,
          maxWaitSeconds: 300,
          readsPerMinute: 30,
          burst: null,
        },
        rollout: waves
          ? {
              waves: [{ count: 1 }, { percent: 100 }],
              first: [],
              pause: pauseSeconds,
              approval: this.#approval,
              approvers: { by: 1, notAuthor: false },
              by: 'domains' as const,
              revert: 'waves' as const,
              health: origin === dead || judged ? health : null,
            }
          : config.rollout,
      },
      desired: buildDesired(origin, seconds),
      commit: origin === good ? 1 : 2,
      ...(allows === undefined ? {} : { allows }),
      network: { createTransport: (sender) => this.#createTransport(sender) },
      stateWorld: this.#stateWorld,
      lockTimeoutMs: 5 * minute,
      signal: new AbortController().signal,
      loaded: () => undefined,
      marked: () => undefined,
    })
  }

  /** Approves the waiting wave, or dies while it does. */
  async #decide(verb: 'approve' | 'abort', mayDie: boolean): Promise<void> {
    this.#world.count(`rollout: ${verb}`)
    this.#decisions++
    const chance = this.#chance.fork(`${verb} ${this.#decisions}`)
    const steps = mayDie && chance.happens(0.3) ? chance.between(1, 60) : Infinity
    const process = chance
      .pick(this.#stateWorld.machines)
      .start(`${verb} ${this.#decisions}`, chance, steps)
    await runDecision(verb, {
      process,
      config: createConfig(new Chance('config'), this.#stateWorld.state),
      desired: buildDesired(alsoGood),
      network: { createTransport: (sender) => this.#createTransport(sender) },
      stateWorld: this.#stateWorld,
    })
  }

  /** Creates a transport that delivers every call after a moment. */
  #createTransport(process: Process): Transport {
    return async ({ url, body }) => {
      await this.#step(process)
      if (body !== undefined) {
        const { domains: written } = JSON.parse(body) as { domains: string }
        const count = written.split(',').length
        this.#writes.push({ at: this.#world.time, domains: count })
        if (this.#isInWaves) this.#checkApproval(count === 1 ? 1 : 2)
        process.log(`writes ${written}`)
        const { origin = '', law = '' } = this.#forbidden ?? {}
        if (origin !== '' && body.includes(origin)) this.#world.violated(law, `to ${written}`)
      }
      const answer = await (body === undefined
        ? this.#service.query(url)
        : this.#service.write(body))
      await this.#step(process)
      return answer
    }
  }

  #step(process: Process): Promise<void> {
    return process.step(process.chance.between(5, 400), 'a call', () => undefined)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(ms, resolve)
    })
  }
}

function buildDesired(origin: string, seconds?: number): Snapshot {
  const values: Record<ItemKey, Json> = {
    [item]: { default_master: origin },
    ...(seconds === undefined ? {} : { timeout: { time: seconds } }),
  }
  const items = Object.entries(values).map(
    ([key, value]) => [key, createItemState(getItemSpec(key).canonicalize(value))] as const,
  )
  return new Map(domains.map((domain) => [domain, new Map(items)]))
}
