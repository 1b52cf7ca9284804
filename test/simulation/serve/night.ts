import { identify, type Identity } from '../../../src/core/model/people/identity.ts'
import { createItemState, type Domain, type ItemState } from '../../../src/core/model/item.ts'
import { getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import type { HealthConfig, RolloutConfig } from '../../../src/core/model/config.ts'
import type { Controller } from '../../../src/server/controller.ts'
import type { RoleName } from '../../../src/core/model/people/roles.ts'
import { runSealed } from '../seal.ts'
import type { Machine } from '../machine.ts'
import { makePage } from './make-page.ts'
import { readPages } from './reader.ts'
import {
  hour,
  LongWorld,
  minute,
  second,
  ServeWorld,
  type Extras,
  type Replica,
} from './serve-world.ts'

/** What is left of a night for somebody who has not seen it. */
export interface Night {
  /** Pages as plain text by their paths, of each replica by its role. */
  pages: Map<string, Map<string, string>>
  /** Overviews soon after the first rollback, of replicas that began with an earlier commit. */
  early: Map<string, string>
  /** Bodies of the notifications of the night, first to last. */
  notifications: string[]
  /** When each event of the night happened, ISO 8601. */
  times: Map<string, string>
  violations: string[]
  log: string[]
}

const receiver = 'https://receiver.example.com/hook'
const [usual, dead, fading] = ['192.0.2.10', '192.0.2.66', '192.0.2.77']
const name = (i: number): Domain => `d${i}.example.com`
const all = Array.from({ length: 14 }, (_, i) => i)

const health: HealthConfig = {
  area: 'all',
  settle: 60,
  lag: 300,
  window: 300,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
  onLittleData: 'wait',
  onFailure: 'rollback',
  after: 3600,
}
const atOnce: RolloutConfig = {
  waves: [{ percent: 100 }],
  first: [],
  pause: 0,
  approval: [],
  approvers: { by: 1, notAuthor: false },
  by: 'domains',
  revert: 'waves',
  health: null,
}
const serveUrl = 'https://edgewise.example.com'
const config = {
  rollout: atOnce,
  notify: [
    {
      key: 'night',
      kind: 'webhook' as const,
      url: receiver,
      on: ['applied', 'refused', 'in-doubt', 'failed', 'drift', 'rollout', 'approval'] as const,
      variables: [],
    },
  ].map((each) => ({ ...each, on: [...each.on] })),
  serve: {
    url: serveUrl,
    drift: { schedule: '*/15 * * * *', observed: 'live', repair: false },
    auth: { provider: null, proxy: null, ci: [], variables: [] },
  },
}
const rule = (role: RoleName, users: string[]) => ({ role, users, groups: [], domains: ['*'] })
const rules = {
  roles: [
    rule('operator', ['ben@example.com', 'cleo@example.com']),
    rule('approver', ['ben@example.com', 'cleo@example.com']),
  ],
  needs: { by: 1, notAuthor: false },
}

/** Real time that code has to load its parts after each event of the world, ms. */
const loadMs = 10
const realTimeout = setTimeout

/** World that waits while a history is made, which loads code when it is needed. */
class NightWorld extends LongWorld {
  isLoading = false

  protected override async settle(): Promise<void> {
    await super.settle()
    if (!this.isLoading) return
    await new Promise((resolve) => {
      realTimeout(resolve, loadMs)
    })
    await super.settle()
  }
}

/** Spends a night of two hours in which ten things go wrong, and reads what is left of it. */
export async function spendNight(): Promise<Night> {
  const world = new NightWorld()
  const extras: Partial<Extras> = {
    makePage: async (page, ...of) => {
      world.isLoading = page === 'history'
      return makePage(page, ...of).finally(() => {
        world.isLoading = false
      })
    },
    rules,
    receiver,
  }
  const stage = new ServeWorld(world, 'night', config, [dead], extras)
  stage.pollMs = minute
  const night = new NightShift(stage)
  await runSealed(world, () => world.passUntil(night.run(), 12 * hour), true)
  const { pages, early, times } = night
  return {
    pages,
    early,
    times,
    notifications: night.listReceived(),
    violations: world.violations,
    log: stage.log,
  }
}

class NightShift {
  readonly pages: Night['pages'] = new Map()
  readonly early: Night['early'] = new Map()
  readonly times: Night['times'] = new Map()
  readonly #stage: ServeWorld
  #receivedBefore = 0
  #begin = 0

  constructor(stage: ServeWorld) {
    this.#stage = stage
  }

  listReceived(): string[] {
    return this.#stage.received.slice(this.#receivedBefore)
  }

  async run(): Promise<void> {
    const { repository } = this.#stage
    repository.push(new Map(all.map((i) => [name(i), buildItems(usual)])), {
      committed: { author: 'Ada Example', subject: 'Begin' },
    })
    this.#stage.start()
    await this.#stage.wait(4 * hour)
    this.#receivedBefore = this.#stage.received.length
    this.#begin = this.#stage.world.time
    const isOver = this.#happen()
    await this.#at(22)
    for (const [role, pages] of await this.#read(0)) this.early.set(role, pages.get('/') ?? '')
    await this.#at(119)
    await isOver
    for (const [role, pages] of await this.#read()) this.pages.set(role, pages)
    await this.#stage.stop()
  }

  async #happen(): Promise<void> {
    await Promise.all([
      this.#breakWithRollback(),
      this.#breakLate(),
      this.#refuse(),
      this.#changeByHand(),
      this.#killInWave(),
      this.#cutOffLeader(),
      this.#restartDatabase(),
      this.#approveAndAbort(),
      this.#stopAndLift(),
      this.#waitForApproval(),
      this.#losesRemote(),
    ])
  }

  /** Reads what each replica says, by its role. */
  async #read(steps?: number): Promise<Night['pages']> {
    const read: Night['pages'] = new Map()
    for (const replica of this.#stage.replicas.values())
      read.set(await findRole(replica.controller), await readPages(replica, steps))
    return read
  }

  async #breakWithRollback() {
    await this.#at(2)
    const waves = [{ count: 1 }, { percent: 100 }]
    this.#commit('rollback', 'Move to the new pool', 'Ada Example', [0, 1, 2], dead, {
      waves,
      health,
    })
  }

  async #breakLate() {
    await this.#at(4)
    this.#commit('late', 'Try the spare pool', 'Ben Example', [3, 4], fading, {
      health: { ...health, onFailure: 'stop' },
    })
    await this.#at(40)
    this.#note('fades')
    this.#stage.service.setDeadOrigins([dead, fading])
  }

  async #refuse() {
    await this.#at(96)
    const { service } = this.#stage
    service.setFaults([{ kind: 'refuse', domain: name(5), item: 'origin_host', named: true }])
    this.#commitHost('refusal', 'Rename the host', 'Cleo Example', [5], 'renamed.example.net')
  }

  async #changeByHand() {
    await this.#at(10)
    this.#note('hand')
    this.#stage.service.change(name(6), 'origin_host', { host: 'by.hand.net' })
  }

  async #killInWave() {
    await this.#at(24)
    this.#commitEach('kill', 'One host for each shop', 'Ada Example', [7, 8, 9, 10])
    const { service } = this.#stage
    while (![7, 8, 9, 10].some((i) => (service.writes.get(name(i)) ?? 0) > 1))
      await this.#stage.wait(5)
    this.#note('killed')
    const [machine, replica] = await this.#findLeader()
    replica.process.kill('its machine has failed')
    machine.standStill(minute, false)
  }

  async #cutOffLeader() {
    await this.#at(50)
    const [machine] = await this.#findLeader()
    this.#note('cut off')
    this.#stage.repository.cutOff.add(machine)
    await this.#at(62)
    this.#stage.repository.cutOff.delete(machine)
  }

  async #restartDatabase() {
    await this.#at(68)
    this.#note('database')
    this.#stage.record.restartDatabase(45 * second)
  }

  async #approveAndAbort() {
    await this.#at(14)
    this.#commitHost('abort', 'Split the shops', 'Ben Example', [11, 12], 'split.example.net', {
      waves: [{ count: 1 }, { percent: 100 }],
      approval: [1, 2],
    })
    await this.#at(18)
    await this.#decide('approve', 'abort', 'cleo')
    await this.#at(72)
    await this.#decide('abort', 'abort', 'ben')
  }

  async #stopAndLift() {
    await this.#at(76)
    this.#note('stop')
    const [, { controller }] = await this.#findLeader()
    await controller?.decideAll('stop', { reason: 'the origin is on fire' }, person('ben'))
    await this.#at(82)
    this.#note('lift')
    const [, leader] = await this.#findLeader()
    await leader.controller?.decideAll('resume', {}, person('cleo'))
  }

  async #waitForApproval() {
    await this.#at(90)
    this.#commitHost('waiting', 'Move the last shop', 'Ada Example', [13], 'last.example.net', {
      approval: [1],
    })
  }

  async #losesRemote() {
    await this.#at(108)
    this.#note('remote')
    this.#stage.repository.setAway(true)
  }

  /** Decides about the rollout of a commit as somebody, at the replica that does not lead. */
  async #decide(verb: 'approve' | 'abort', about: string, who: string) {
    this.#note(verb)
    const replicas = [...this.#stage.replicas.values()]
    const [, leader] = await this.#findLeader()
    const { controller } = replicas.find((each) => each !== leader) ?? leader
    const commit = this.times.get(`commit ${about}`)
    const rollouts = (await controller?.listRollouts()) ?? []
    const found = rollouts.find((each) => each.commit === commit)
    await controller?.decide(verb, found?.id ?? '', person(who))
  }

  #commit(
    key: string,
    subject: string,
    author: string,
    domains: number[],
    origin: string,
    rollout: Partial<RolloutConfig> = {},
    host: (i: number) => string = () => 'one.example.net',
  ): void {
    const { repository } = this.#stage
    const changed = domains.map((i) => [name(i), buildItems(origin, host(i))] as const)
    repository.push(new Map([...repository.desired, ...changed]), {
      committed: { author, subject },
      config: { ...config, rollout: { ...atOnce, ...rollout } },
    })
    this.#note(key)
    this.times.set(`commit ${key}`, repository.tip)
  }

  #commitHost(
    key: string,
    subject: string,
    author: string,
    domains: number[],
    host: string,
    rollout: Partial<RolloutConfig> = {},
  ): void {
    this.#commit(key, subject, author, domains, usual, rollout, () => host)
  }

  #commitEach(key: string, subject: string, author: string, domains: number[]): void {
    this.#commit(key, subject, author, domains, usual, {}, (i) => `shop${i}.example.net`)
  }

  async #findLeader(): Promise<[Machine, Replica]> {
    for (const [machine, replica] of this.#stage.replicas)
      if ((await findRole(replica.controller)) === 'leader') return [machine, replica]
    throw new Error('nobody leads')
  }

  #note(event: string): void {
    this.times.set(event, new Date(this.#stage.world.time).toISOString())
  }

  /** Waits until some minutes after the beginning of the night. */
  #at(minutes: number): Promise<void> {
    return this.#stage.wait(this.#begin + minutes * minute - this.#stage.world.time)
  }
}

async function findRole(controller: Controller | null): Promise<string> {
  const status = await controller?.status()
  return String((status as { role?: string } | undefined)?.role)
}

function person(who: string): Identity {
  const found = identify('oidc', who, { email: `${who}@example.com` })
  if (found === null) throw new TypeError(`expected a person, got ${who}`)
  return found
}

function buildItems(origin: string, host = 'one.example.net'): Map<string, ItemState> {
  const state = (item: string, payload: Record<string, string>) =>
    [item, createItemState(getItemSpec(item).canonicalize(payload))] as const
  return new Map([state('origin', { default_master: origin }), state('origin_host', { host })])
}
