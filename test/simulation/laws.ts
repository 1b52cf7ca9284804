import { getItemSpec } from '../../src/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/catalog/item-spec.ts'
import { canonicalizeJson, isSameJson } from '../../src/model/canonical-json.ts'
import type { Domain, ItemKey, Snapshot, Value } from '../../src/model/item.ts'
import { leaseMs } from '../../src/state/lock.ts'
import type { RecordedState, RecordedItem } from '../../src/state/store.ts'
import type { Process } from './machine.ts'
import type { Call } from './network.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

const minute = 60_000
/** The item whose whole value can't be sent. */
const switches = 'visit_deny_whitelist'

/**
 * What must hold whatever happens. Each law watches the world as it goes and tells it of what
 * breaks it.
 */
export class Laws {
  readonly #world: World
  readonly #callsPerMinute: number
  readonly #settleMs: number
  /**
   * Who holds the lock, by all that is true: a process's name, and how old its last sign of life
   * is, ms.
   */
  #holder: () => { name: string; signAge: number } | null = () => null
  #arrivals: number[] = []
  #underWay = new Set<Call>()
  #mayLand: Call[] = []
  /** Item and domain → whether what was last judged of it was refused. */
  #refused = new Map<string, boolean>()
  /** Item and domain of which a process does not know what came of the last call. */
  #doubted = new Map<string, Process>()
  /**
   * Lists of switches that were there when nothing was recorded of them: more may be on than
   * anybody named.
   */
  #strangers = new Set<Domain>()

  constructor(world: World, callsPerMinute: number, settleMs: number) {
    this.#world = world
    this.#settleMs = settleMs
    this.#callsPerMinute = callsPerMinute
  }

  lockedBy(holder: () => { name: string; signAge: number } | null): void {
    this.#holder = holder
  }

  /**
   * No write is sent without the lock, nor with so little lease left that it may outlive it; and
   * none while another runner still waits for one of its own.
   */
  departs(call: Call): void {
    const holder = this.#holder()
    if (holder?.name !== call.process.name)
      this.#world.violated(
        'no write without the lock',
        `${call.process.name} sent call ${call.number}, the lock is held by ${holder?.name}`,
      )
    else if (holder.signAge + call.givenUpAt - this.#world.time >= leaseMs)
      this.#world.violated(
        'no write outlives the lease',
        `${call.process.name} sent call ${call.number} ${holder.signAge} ms after its last beat`,
      )
    for (const other of this.#underWay) {
      if (other.endedAt !== null || other.givenUpAt <= this.#world.time || !other.process.alive)
        this.#underWay.delete(other)
      else if (other.process !== call.process)
        this.#world.violated(
          'one runner at a time',
          `${call.process.name} sent call ${call.number} while ${other.process.name} waits for call ${other.number}`,
        )
    }
    this.#underWay.add(call)
    this.#afterAllElse(call)
    for (const key of keysOf(call, call.deltas))
      if (this.#doubted.get(key) === call.process)
        this.#world.violated(
          'what is in doubt is sent whole',
          `${call.process.name} sent call ${call.number} with a part of ${key}`,
        )
  }

  /** Nothing is sent about what an earlier call may still change, since that would undo it. */
  #afterAllElse(call: Call): void {
    const keys = keysOf(call, call.items)
    this.#mayLand = this.#mayLand.filter(
      (other) => other.mayLand && this.#world.time < other.process.diedAt + this.#settleMs,
    )
    for (const other of this.#mayLand) {
      const shared = keysOf(other, other.items).find((key) => keys.includes(key))
      if (shared !== undefined)
        this.#world.violated(
          'nothing is sent before what was given up has landed',
          `call ${call.number} with ${shared} overtakes call ${other.number}`,
        )
    }
    this.#mayLand.push(call)
  }

  /** A process has heard what came of a call, or that nothing is certain. */
  ends(call: Call, certain: boolean): void {
    for (const key of keysOf(call, call.items)) {
      if (certain) this.#doubted.delete(key)
      else this.#doubted.set(key, call.process)
    }
  }

  /** No 60 seconds see more arrivals at the service's door than the call rate allows. */
  arrives(call: Call): void {
    const now = this.#world.time
    this.#arrivals = [...this.#arrivals.filter((time) => time > now - minute), now]
    this.#world.count('calls that arrived')
    if (this.#arrivals.length === this.#callsPerMinute) this.#world.count('minutes that were full')
    if (this.#arrivals.length > this.#callsPerMinute)
      this.#world.violated(
        'call rate',
        `call ${call.number} is number ${this.#arrivals.length} within 60 seconds, of ${this.#callsPerMinute}`,
      )
  }

  /** The service has judged a call. */
  lands(call: Call, { status, code }: { status: number; code: number }): void {
    for (const key of keysOf(call, call.items)) this.#refused.set(key, status !== 200 || code !== 0)
  }

  /**
   * What the record calls confirmed is what the service holds, and nothing that was refused is
   * among it.
   */
  checkState(recorded: RecordedState, service: Service, when: string): void {
    for (const domain of service.domains())
      if (recorded.get(domain)?.has(switches) !== true && service.holds(domain).has(switches))
        this.#strangers.add(domain)
    for (const [domain, items] of recorded) {
      for (const [item, held] of items) {
        const value = service.holds(domain).get(item)
        if (allows(item, held, value) || this.#isStrange(domain, item)) continue
        const law =
          held.status !== 'in-doubt' && this.#refused.get(`${item} of ${domain}`) === true
            ? 'nothing refused is confirmed'
            : 'the record is true'
        this.#world.violated(
          law,
          `${when}: ${item} of ${domain} is recorded as ${told(held)}, the service holds ${value === undefined ? 'nothing' : canonicalizeJson(value)}`,
        )
      }
    }
  }

  /** The service holds what the manifests say. */
  checkDesired(checkDesired: Snapshot, service: Service): void {
    for (const [domain, items] of checkDesired) {
      for (const [item, { candidates }] of items) {
        const value = service.holds(domain).get(item)
        const wanted = candidates[0] ?? unsetValue(item, domain, value)
        if (this.#isStrange(domain, item)) continue
        if (
          isSameJson(
            value,
            wanted === undefined
              ? undefined
              : fillKeptFields(getItemSpec(item).keptFields, wanted, value),
          )
        )
          continue
        this.#world.violated(
          'the service ends as the manifests say',
          `${item} of ${domain} should be ${JSON.stringify(wanted)}, the service holds ${JSON.stringify(value)}`,
        )
      }
    }
  }

  #isStrange(domain: Domain, item: ItemKey): boolean {
    return item === switches && this.#strangers.has(domain)
  }
}

function keysOf({ domains }: Call, items: ItemKey[]): string[] {
  return domains.flatMap((domain) => items.map((item) => `${item} of ${domain}`))
}

/** Whether what is recorded of an item allows for what the service holds. */
function allows(item: ItemKey, held: RecordedItem, value: Value | undefined): boolean {
  if (held.unknown === true) return true
  if (held.candidates.length === 0) return value === undefined
  // A kept field that no recorded write named is not known.
  return held.candidates.some((candidate) =>
    isSameJson(value, fillKeptFields(getItemSpec(item).keptFields, candidate, value)),
  )
}

/** What an item holds after its documented way back, from whatever it held. */
function unsetValue(item: ItemKey, domain: Domain, value: Value | undefined): Value | undefined {
  const spec = getItemSpec(item)
  const held = value === undefined ? [] : [value]
  const payload = spec.unset?.({ status: 'in-doubt', candidates: held }, domain)
  return payload === undefined || payload === null ? value : spec.reduce(value, payload)
}

function told({ status, candidates }: RecordedItem): string {
  return `${status} ${candidates.map(canonicalizeJson).join(' or ')}`
}
