import { applyPlan } from '../../src/engine/apply/apply-plan.ts'
import { listClearedItems, type ItemKeys } from '../../src/core/catalog/wire-names.ts'
import type { ApplyContext, ApplyResult } from '../../src/engine/apply/run.ts'
import type { Applied } from '../../src/core/model/applied.ts'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/core/catalog/item-spec.ts'
import { isSameJson } from '../../src/core/model/json.ts'
import {
  createItemState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
  type Wire,
} from '../../src/core/model/item.ts'
import { unknownDomain, type Outcome } from '../../src/core/model/outcome.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { buildBundles } from '../../src/core/plan/groups.ts'
import { CallBudget } from '../../src/service/write/call-budget.ts'
import type { EndedCalls } from '../../src/service/write/next-call.ts'
import type {
  LateCalls,
  RecordedState,
  RecordedItem,
  Store,
  Batch,
} from '../../src/state/store/store.ts'
import { mergeBefore } from '../../src/state/store/load-journal.ts'
import { planSnapshots } from '../plan/plan-snapshots.ts'
import { FakeClock } from '../service/fake-clock.ts'

export const limits = { remaining: null, resetMs: null }
export const good: Outcome = { kind: 'confirmed', config: {}, domains: [], limits }
export const bad = {
  kind: 'refused',
  status: 400,
  code: 1,
  message: 'no',
  fatal: false,
  limits,
} satisfies Outcome
export const notKnown: Outcome = { ...bad, code: unknownDomain, message: 'domain is invalid' }
export const unauthorised: Outcome = {
  kind: 'refused',
  status: 401,
  code: null,
  message: 'not accepted (HTTP 401)',
  fatal: true,
  limits,
}
export const doubt: Outcome = { kind: 'in-doubt', message: 'the connection was reset' }
export const unreached: Outcome = { kind: 'not sent', message: 'the connection was refused' }
export const throttled: Outcome = {
  kind: 'throttled',
  message: 'slow down',
  retryAfterMs: 7000,
  limits,
}

/** Scripted outcome of one call. */
export interface Step {
  outcome: Outcome
  /**
   * Domains at which the service saves the write; by default all if it is confirmed, otherwise
   * none.
   */
  saves?: Domain[]
  /** Time until the answer, ms. */
  ms?: number
  /** Delay of the save after the answer, ms; for late effects of abandoned calls. */
  late?: number
}

export interface Call {
  at: number
  answeredAt: number | null
  domains: Domain[]
  items: ItemKey[]
  method: 'POST' | 'DELETE'
}

export type Truth = Map<Domain, Map<ItemKey, Value>>

export class ProcessDeath extends Error {}

/** Names some domains. */
export const createDomains = (count: number): Domain[] =>
  Array.from({ length: count }, (_, i) => `d${i}.example.com`)

/** Names a domain of `World.planEach`. */
export const nameDomain = (i: number): Domain => `d${String(i).padStart(4, '0')}.example.com`

/** Service, state and clock in memory, on which plans are applied. */
export class World {
  readonly clock = new FakeClock()
  readonly truth: Truth = new Map()
  readonly calls: Call[] = []
  /** Saves, sends, answers and events, in their order. */
  readonly log: string[] = []
  readonly events: ApplyEvent[] = []
  readonly interrupt = new AbortController()
  /** Stored state of domains, without intents. */
  durable: Record<Domain, Record<ItemKey, RecordedItem>> = {}
  /** Intents of an unfinished apply, by write. */
  open: { apply: string; intents: Map<number, RecordedState> } | null = null
  /** Step at which the process dies; each contact with the outside is a step. */
  diesAt = Infinity
  steps = 0
  applies = 0
  callsPerMinute = 1000
  maxWaitMs = 300_000
  /** Calls of earlier processes, by the monotonic clock. */
  earlierCalls: EndedCalls[] = []
  settleMs = 10_000
  /** Items that are sent together. */
  together: ItemKey[][] = []
  leaseLeftMs = Infinity
  /** Time that the machine was asleep, ms. */
  asleepMs = 0
  lease: ApplyContext['lease'] = {
    check: (callMs) =>
      this.leaseLeftMs <= callMs ? { refused: 'the lock is about to expire' } : 'clear',
    look: async () => undefined,
  }
  /** Writes marked as doubtful; may throw. */
  onMark: (writes: number[]) => void = () => {}
  secrets: ApplyContext['secrets'] = {
    recognize: (_item, value) => value,
    maskAnswer: (_item, value) => value,
    reveal: (payload) => payload,
    listTemplates: () => ({}),
    canReveal: () => true,
  }
  /** Names of items on the wire, where they differ. */
  itemKeys: ItemKeys = {}
  /** Whether plans may unset any item by DELETE. */
  deletes = false
  /** Shares outcomes with other machines. */
  share: Store['share'] = null
  findItemPlace: ApplyContext['findItemPlace'] = () => null
  /** Journal entries of the last apply, in their order; and its last one, if it has ended. */
  journal: Applied[] = []
  ended: Applied | null = null
  /** Time that recording the intents of a batch takes, ms. */
  intendMs = 0
  /** Called before intents are recorded; may throw. */
  onIntend: (wave: Batch) => void = () => {}
  /** Recorded batches: when they were durable, and their writes. */
  intended: { at: number; writes: number[] }[] = []
  /** Called before the calls of the budget are saved; may throw. */
  onSaveCalls: () => void = () => {}
  /** Called before each save; may throw. */
  onSave: () => void = () => {}
  readonly #lateCalls = new Map<string, LateCalls>()

  /** Sets the configuration of a domain at the service and records it. */
  holds(domain: Domain, items: Record<ItemKey, Value>, status: Partial<RecordedItem> = {}): this {
    this.truth.set(domain, new Map(Object.entries(items)))
    const at = new Date(this.clock.now() - 3_600_000).toISOString()
    const entries = Object.entries(items).map(([item, value]): [ItemKey, RecordedItem] => [
      item,
      { status: 'confirmed', candidates: [value], at, apply: 'before', origin: 'write', ...status },
    ])
    this.durable[domain] = Object.fromEntries(entries)
    return this
  }

  /** Returns the state as a process that starts now loads it. */
  recorded(): RecordedState {
    const text = JSON.stringify(this.durable)
    const plain = JSON.parse(text) as typeof this.durable
    const recorded: RecordedState = new Map(
      Object.entries(plain).map(([domain, items]) => [domain, new Map(Object.entries(items))]),
    )
    for (const domains of this.open?.intents.values() ?? []) {
      for (const [domain, intended] of domains) {
        const items = recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
        for (const [item, state] of intended)
          if (items.get(item)?.apply !== this.open?.apply) items.set(item, { ...state, open: true })
        recorded.set(domain, items)
      }
    }
    return recorded
  }

  /** Returns one item of that state. */
  item(domain: Domain, item: ItemKey): RecordedItem | undefined {
    return this.recorded().get(domain)?.get(item)
  }

  plan(desired: Record<Domain, Record<ItemKey, Value | null>>, domainsPerWrite = 10): Plan {
    const wanted: Snapshot = new Map(
      Object.entries(desired).map(([domain, items]) => [
        domain,
        new Map(
          Object.entries(items).map(([item, value]): [ItemKey, ItemState] => [
            item,
            value === null ? unset : createItemState(getItemSpec(item).canonicalize(value)),
          ]),
        ),
      ]),
    )
    return planSnapshots(this.recorded(), wanted, {
      itemKeys: this.itemKeys,
      deletes: this.deletes,
      grouping: { groups: 'all', together: this.together },
      limits: { domainsPerWrite, callsPerMinute: 30 },
    })
  }

  /** Plans a write for each of some domains, with another timeout. */
  planEach(count: number): Plan {
    const timeouts = Array.from({ length: count }, (_, i) => ({ time: String(10 + i) }))
    return this.plan(
      Object.fromEntries(timeouts.map((timeout, i) => [nameDomain(i), { timeout }])),
      1,
    )
  }

  /** Applies a plan; `script` answers the calls, by their number from 0. */
  async apply(
    plan: Plan,
    script: (call: number, domains: Domain[], items: ItemKey[]) => Step = () => ({ outcome: good }),
    base = this.recorded(),
  ): Promise<ApplyResult> {
    return this.clock.drive(this.start(plan, script, base))
  }

  start(
    plan: Plan,
    script: (call: number, domains: Domain[], items: ItemKey[]) => Step,
    base = this.recorded(),
  ): Promise<ApplyResult> {
    const remember = async () => {
      this.#step()
      this.onSaveCalls()
    }
    const budget = new CallBudget(
      this.callsPerMinute,
      this.maxWaitMs,
      this.clock,
      this.earlierCalls,
      remember,
      this.settleMs + 30_000,
    )
    return applyPlan(plan, base, {
      store: this.#store(),
      client: {
        write: (domains, config) => this.#call(domains, config, script),
        unset: (domains, items) => this.#call(domains, items, script),
      },
      budget,
      clock: {
        now: () => this.clock.now(),
        monotonic: () => this.clock.monotonic(),
        sleep: (ms, signal) => this.#sleep(ms, signal),
      },
      random: () => 0.5,
      settleMs: this.settleMs,
      timeoutMs: 30_000,
      endsWithProcess: false,
      lease: this.lease,
      bundleItems: (items) =>
        buildBundles(items, { groups: 'all', together: this.together }).map((each) => each.items),
      unknownDomains: new Set(),
      serviceNow: () => null,
      apply: `apply-${++this.applies}`,
      tree: { commit: null },
      author: null,
      lockedAt: { atMs: this.clock.now(), upMs: this.clock.monotonic(), uptimeMs: this.#uptime() },
      uptime: () => this.#uptime(),
      signal: this.interrupt.signal,
      secrets: this.secrets,
      itemKeys: this.itemKeys,
      findItemPlace: (domain, item) => this.findItemPlace(domain, item),
      report: (event) => {
        this.#step()
        this.events.push(event)
        this.log.push('id' in event ? `${event.type} ${event.id}` : event.type)
      },
    })
  }

  /** Returns whether the recorded state includes a value; an unrecorded item may have any value. */
  allows(domain: Domain, item: ItemKey, value: Value | undefined): boolean {
    const state = this.item(domain, item)
    if (state === undefined || state.unknown === true) return true
    if (state.candidates.length === 0) return value === undefined
    // A kept field that no recorded write named is not known.
    return state.candidates.some((candidate) =>
      isSameJson(value, fillKeptFields(getItemSpec(item).keptFields, candidate, value)),
    )
  }

  #uptime(): number {
    return this.clock.monotonic() + this.asleepMs
  }

  #step(): void {
    if (this.steps++ >= this.diesAt) throw new ProcessDeath('the process is dead')
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.#step()
    await this.clock.sleep(ms, signal)
    this.#step()
  }

  #store(): ApplyContext['store'] {
    const put = (domains: RecordedState) => {
      for (const [domain, items] of domains) {
        if (items.size === 0) delete this.durable[domain]
        else
          this.durable[domain] = JSON.parse(JSON.stringify(Object.fromEntries(items))) as Record<
            ItemKey,
            RecordedItem
          >
      }
    }
    const contact = (what: string) => {
      this.#step()
      this.onSave()
      this.log.push(what)
    }
    return {
      share: this.share,
      listApplies: async () => [],
      loadStateBefore: async () => new Map(),
      loadLateCalls: async (apply) => this.#lateCalls.get(apply) ?? noLateCalls,
      recordIntents: async (apply, wave) => {
        contact('intend')
        if (this.intendMs > 0) await this.clock.sleep(this.intendMs)
        this.onIntend(wave)
        this.journal.push(apply)
        if (this.open?.apply !== apply.id) {
          put(this.recorded())
          this.open = { apply: apply.id, intents: new Map() }
        }
        for (const [id, intents] of wave.intents) this.open.intents.set(id, intents)
        this.intended.push({ at: this.clock.now(), writes: [...wave.intents.keys()] })
        const { before } = this.#lateCalls.get(apply.id) ?? noLateCalls
        const { landWithinMs } = wave
        const open: RecordedState = new Map()
        this.#lateCalls.set(apply.id, {
          before: mergeBefore([{ before }, wave]),
          landWithinMs,
          open,
        })
      },
      recordOutcomes: async (apply, writes, domains) => {
        contact(`save ${[...domains.keys()].join(',')}`)
        this.journal.push(apply)
        put(domains)
        this.#step()
        for (const write of writes) this.open?.intents.delete(write)
      },
      endApply: async (apply) => {
        contact('end')
        this.ended = apply
        this.open = null
      },
      markDoubtful: async (_apply, writes) => this.onMark(writes),
    }
  }

  /** @param config payloads by item of a write, or the items that are unset by DELETE */
  async #call(
    domains: Domain[],
    config: Record<ItemKey, Wire> | ItemKey[],
    script: (call: number, domains: Domain[], items: ItemKey[]) => Step,
  ): Promise<Outcome> {
    this.#step()
    const items = Array.isArray(config) ? config : Object.keys(config)
    const step = script(this.calls.length, domains, items)
    const call: Call = {
      at: this.clock.now(),
      answeredAt: null,
      domains,
      items,
      method: Array.isArray(config) ? 'DELETE' : 'POST',
    }
    this.calls.push(call)
    this.log.push(`send ${domains.join(',')}`)
    const { ms = 100, late, saves = step.outcome.kind === 'confirmed' ? domains : [] } = step
    await this.clock.sleep(ms / 2)
    if (late === undefined) this.#save(saves, config)
    else void this.clock.sleep(ms / 2 + late).then(() => this.#save(saves, config))
    await this.clock.sleep(ms / 2)
    this.#step()
    call.answeredAt = this.clock.now()
    this.log.push(`answer ${domains.join(',')}`)
    return step.outcome
  }

  /**
   * Saves a write as specified: each item by its own rule, and the items it clears.
   */
  #save(domains: Domain[], config: Record<ItemKey, Wire> | ItemKey[]): void {
    for (const domain of domains) {
      const values = this.truth.get(domain) ?? new Map<ItemKey, Value>()
      this.truth.set(domain, values)
      if (Array.isArray(config)) {
        for (const item of config) values.delete(item)
        continue
      }
      for (const [item, payload] of Object.entries(config)) {
        const value = getItemSpec(item).reduce(values.get(item), payload)
        if (value === undefined) values.delete(item)
        else values.set(item, value)
        for (const cleared of listClearedItems(item, this.itemKeys)) values.delete(cleared)
      }
    }
  }
}

const noLateCalls: LateCalls = { before: new Map(), landWithinMs: 0, open: new Map() }
const unset: ItemState = { status: 'unset', candidates: [] }
