import { getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { isSameJson, type Json } from '../../../src/core/model/json.ts'
import type { RolloutConfig } from '../../../src/core/model/config.ts'
import { createItemState, type Domain, type ItemState } from '../../../src/core/model/item.ts'
import type { Chance } from '../chance.ts'
import { noFaults } from '../faults.ts'
import { runSealed } from '../seal.ts'
import { hour, LongWorld, minute, second, ServeWorld } from './serve-world.ts'

/** What to simulate. */
export interface DayOptions {
  seed: number
  domains: number
  hours: number
  /** Called after each hour, with the size of the database. */
  onHour?(hour: number, database: { rows: Record<string, number>; characters: number }): void
}

/** Result of a simulation. */
export interface Day {
  violations: string[]
  /** Number of times that each event happened. */
  counts: Map<string, number>
  /** Last lines of the controllers' logs. */
  log: string[]
  /** Parts that differ from the tip in the end, with what `edgewise drift` prints of each. */
  named: string[]
}

/** Time without faults, manual changes or commits, before the first and after the last hour. */
const calmMs = 3 * hour
/** Domains whose last commit is bad: they end on hold. */
const lastBad = 5
const dead = '192.0.2.66'
const origins = ['192.0.2.10', '192.0.2.11', '192.0.2.12']
const hosts = ['one.example.net', 'two.example.net', 'three.example.net']
/** Faults of the network to the service in a bad quarter of an hour. */
const storm = {
  unreached: 0.1,
  lostRequest: 0.05,
  lostAnswer: 0.1,
  serverError: 0.1,
  nonsense: 0.02,
  slow: 0.1,
  late: 0.3,
}
/** What disturbs an hour, twice, in turn. */
const disturbances = [
  'kill',
  'storm',
  'suspend',
  'dead origin',
  'refusal',
  'database',
  'repository',
  'stop',
  'cut off',
  'reboot',
] as const
const rollout: RolloutConfig = {
  waves: [{ count: 10 }, { percent: 100 }],
  first: [],
  pause: 300,
  approval: [],
  approvers: { by: 1, notAuthor: false },
  by: 'domains' as const,
  revert: 'waves' as const,
  health: {
    area: 'all',
    settle: 300,
    lag: 600,
    window: 900,
    grain: 'minute5',
    statuses: ['5xx'],
    minRequests: 500,
    margin: 1,
    onLittleData: 'wait',
    onFailure: 'rollback',
    after: 3600,
  },
}

/**
 * Runs two replicas of `edgewise serve` for some hours of virtual time, with commits, drift, dead
 * origins, and faults of each kind every few hours. In the end everything has to be in sync, or
 * named as different. The same seed gives the same day.
 */
export async function simulateDay(options: DayOptions): Promise<Day> {
  const world = new LongWorld()
  const stage = new ServeWorld(world, `day ${options.seed}`, { rollout }, [dead])
  const day = new Simulation(stage, options)
  try {
    const longest = (options.hours + 2) * hour + 2 * calmMs
    await runSealed(world, () => world.passUntil(day.run(), longest))
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    world.violated('the simulation ends', text)
  }
  const { violations, counts } = world
  return { violations, counts, log: stage.log, named: day.named }
}

class Simulation {
  readonly named: string[] = []
  readonly #stage: ServeWorld
  readonly #options: DayOptions
  readonly #domains: Domain[]
  #isOver = false

  constructor(stage: ServeWorld, options: DayOptions) {
    this.#stage = stage
    this.#options = options
    this.#domains = Array.from({ length: options.domains }, (_, i) => `d${i}.example.com`)
  }

  async run(): Promise<void> {
    const { repository, chance, record } = this.#stage
    repository.push(new Map(this.#domains.map((domain) => [domain, drawItems(chance)])))
    this.#stage.start()
    await this.#stage.wait(calmMs)
    void this.#commitNowAndThen()
    void this.#changeByHandNowAndThen()
    for (let hours = 1; hours <= this.#options.hours; hours++) {
      await this.#disturb(hours)
      this.#options.onHour?.(hours, record.measureDatabase())
    }
    this.#isOver = true
    const last = this.#domains.slice(0, lastBad)
    repository.push(
      new Map([
        ...repository.desired,
        ...last.map((domain) => [domain, buildItems(dead, 'one.example.net')] as const),
      ]),
    )
    await this.#stage.wait(calmMs)
    await this.#check()
    await this.#stage.stop()
  }

  /** Compares the service with the tip of the branch. */
  async #check(): Promise<void> {
    const { world } = this.#stage
    const leader = await this.#stage.findLeader()
    if (leader === null) return world.violated('somebody leads in the end', 'nobody does')
    const names = await this.#stage.listDrift()
    for (const name of this.#listDiffering()) {
      const how = names.get(name)
      this.named.push(`${name}: ${how}`)
      if (how === undefined) world.violated('everything is in sync or named', name)
    }
    const open = (await leader.listRollouts()).map(({ id, state }) => `${id} ${state}`)
    if (open.length > 0) world.violated('every rollout ends', open.join(', '))
  }

  /** Lists the parts whose configuration is not what the tip asks for. */
  #listDiffering(): string[] {
    const { repository, service } = this.#stage
    return [...repository.desired].flatMap(([domain, items]) => {
      const held = service.holds(domain)
      return [...items].flatMap(([item, { candidates }]) =>
        isSameJson(held.get(item), candidates[0]) ? [] : [`${item} of ${domain}`],
      )
    })
  }

  /** Spends an hour with two disturbances. */
  async #disturb(hours: number): Promise<void> {
    const { world, chance } = this.#stage
    for (const i of [0, 1]) {
      await this.#stage.wait(chance.between(1, 29) * minute)
      const name = disturbances[(2 * hours + i) % disturbances.length] ?? 'kill'
      world.count(`disturbance: ${name}`)
      this.#cause(name)
      const elapsed = world.time - world.begin - calmMs
      await this.#stage.wait((hours - 1) * hour + (i + 1) * (hour / 2) - elapsed)
    }
  }

  #cause(name: (typeof disturbances)[number]): void {
    const { world, chance, faults, record, replicas, repository, service } = this.#stage
    const [machine, replica] = chance.pick([...replicas])
    const ms = chance.between(5 * second, 3 * minute)
    if (name === 'kill') replica.process.kill('it is killed')
    if (name === 'suspend') replica.process.suspend(ms)
    if (name === 'stop') replica.interrupt.abort()
    if (name === 'reboot') record.losePower(machine, chance)
    if (name === 'database') record.restartDatabase(ms)
    if (name === 'cut off') machine.cutOffUntil = world.time + ms
    if (name === 'repository') {
      repository.setAway(true)
      world.after(10 * minute, () => repository.setAway(false))
    }
    if (name === 'storm') {
      Object.assign(faults, storm)
      world.after(15 * minute, () => Object.assign(faults, noFaults))
    }
    if (name === 'refusal') {
      // One of the first names is often in the first wave.
      const domain = this.#domains[chance.between(0, 9)] ?? ''
      service.setFaults([{ kind: 'refuse', domain, named: chance.happens(0.5) }])
      world.after(2 * hour, () => service.heal())
    }
    if (name === 'dead origin') {
      service.setDeadOrigins([dead, chance.pick(origins)])
      world.after(40 * minute, () => service.setDeadOrigins([dead]))
    }
  }

  async #commitNowAndThen(): Promise<void> {
    const { world, repository } = this.#stage
    const chance = this.#stage.chance.fork('commits')
    for (;;) {
      await this.#stage.wait(chance.between(20, 90) * minute)
      if (this.#isOver) return
      const share = chance.pick([0.001, 0.002, 0.01, 0.1])
      const desired = new Map(repository.desired)
      const chosen = this.#domains.filter(() => chance.happens(share))
      const isBad = chance.happens(0.2)
      world.count(isBad ? 'commit: dead origin' : 'commit: good')
      // Before a good commit, somebody looks at what the last bad one left, and mends it.
      const broken = isBad ? [] : this.#listBroken()
      for (const domain of [...chosen, ...broken])
        desired.set(domain, isBad ? buildItems(dead, 'one.example.net') : drawItems(chance))
      repository.push(desired)
    }
  }

  /** Lists the domains that are not in sync, or have a dead origin. */
  #listBroken(): Domain[] {
    const differing = new Set(this.#listDiffering().map((name) => name.split(' ').at(-1)))
    return [...this.#stage.repository.desired].flatMap(([domain, items]) => {
      const isDead = JSON.stringify(items.get('origin')?.candidates).includes(dead)
      return isDead || differing.has(domain) ? [domain] : []
    })
  }

  async #changeByHandNowAndThen(): Promise<void> {
    const { world, service } = this.#stage
    const chance = this.#stage.chance.fork('hand')
    for (;;) {
      await this.#stage.wait(chance.between(30, 120) * minute)
      if (this.#isOver) return
      for (let count = chance.between(1, 5); count > 0; count--) {
        world.count('changed by hand')
        service.change(chance.pick(this.#domains), 'origin_host', { host: 'by.hand.net' })
      }
    }
  }
}

function drawItems(chance: Chance): Map<string, ItemState> {
  return buildItems(chance.pick(origins), chance.pick(hosts))
}

function buildItems(origin: string, host: string): Map<string, ItemState> {
  const payloads: [string, Json][] = [
    ['origin', { default_master: origin }],
    ['origin_host', { host }],
  ]
  return new Map(
    payloads.map(([item, payload]) => [
      item,
      createItemState(getItemSpec(item).canonicalize(payload)),
    ]),
  )
}
