import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { fillKeptFields } from '../../src/core/catalog/item-spec.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import type { Domain, ItemKey, Snapshot, Value } from '../../src/core/model/item.ts'
import type { ChainFile } from '../../src/core/model/generated/state-types.ts'
import { type Json, isSameJson } from '../../src/core/model/json.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { parseEntry } from '../../src/state/format/journal.ts'
import { buildStatePaths, chainPath } from '../../src/state/format/state-paths.ts'
import { verifyChain } from '../../src/state/format/verify-chain.ts'
import { leaseMs } from '../../src/state/locks/lease.ts'
import { hashStored } from '../../src/state/format/chain-entry.ts'
import type { RecordedItem, RecordedState } from '../../src/state/store/store.ts'
import type { Process } from './machine.ts'
import type { Call } from './network.ts'
import type { RefusedPart } from './runner.ts'
import type { Service } from './service.ts'
import type { World } from './world.ts'

const minute = 60_000
/** Maximum age of a holder's last look at the lock when it sends a call, ms. */
const maxBlindMs = 5000
/** Item whose whole value can't be sent. */
const switches = 'visit_deny_whitelist'

/** Code of a refusal by a fault of the service that names neither domain nor item. */
const configInvalid = 400_201

/** Laws that hold in every simulation. Each law observes the world and reports its violations. */
export class Laws {
  readonly #world: World
  readonly #callsPerMinute: number
  readonly #settleMs: number
  /**
   * Finds the actual lock holder: the name of its process, and the age of its last heartbeat, ms.
   */
  #holder: () => { name: string; signAge: number } | null = () => null
  #arrivals: number[] = []
  #underWay = new Set<Call>()
  #mayLand: Call[] = []
  /** Verdict on the last judged value of an item and domain: true if it was refused. */
  #refused = new Map<string, boolean>()
  /** Items and domains of which a process does not know the outcome of its last call. */
  #inDoubt = new Map<string, Process>()
  /** When each process that had the lock lost or released it. */
  readonly #lockEnds = new Map<string, number>()
  #lastHolder: string | null = null
  /** Items and domains of stalled calls, by process, until the process marks them as doubtful. */
  readonly #stalled = new Map<string, Set<Process>>()
  /** Domains that had switches while none were recorded: more may be on than any manifest lists. */
  #unrecordedSwitches = new Set<Domain>()

  constructor(world: World, callsPerMinute: number, settleMs: number) {
    this.#world = world
    this.#settleMs = settleMs
    this.#callsPerMinute = callsPerMinute
  }

  lockedBy(holder: () => { name: string; signAge: number } | null): void {
    this.#holder = holder
  }

  /** Notes who has the lock. */
  watchLock(): void {
    const name = this.#holder()?.name ?? null
    if (name === this.#lastHolder) return
    if (this.#lastHolder !== null) this.#lockEnds.set(this.#lastHolder, this.#world.time)
    this.#lastHolder = name
  }

  /**
   * Checks that a write is sent under the lock, or less than five seconds after its loss, with
   * enough lease left, and while no other runner waits for a call.
   */
  departs(call: Call): void {
    if (call.stalled) return this.#noteStalled(call)
    const holder = this.#holder()
    const { name } = call.process
    if (holder?.name !== name) {
      if (this.#world.time - (this.#lockEnds.get(name) ?? -Infinity) >= maxBlindMs)
        this.#world.violated(
          'no write without the lock',
          `${name} sent call ${call.number}, the lock holder is ${holder?.name}`,
        )
    } else if (holder.signAge + call.givenUpAt - this.#world.time >= leaseMs)
      this.#world.violated(
        'no write outlives the lease',
        `${call.process.name} sent call ${call.number} ` +
          `${holder.signAge} ms after its last heartbeat`,
      )
    for (const other of this.#underWay) {
      if (other.endedAt !== null || other.givenUpAt <= this.#world.time || !other.process.alive)
        this.#underWay.delete(other)
      else if (other.process !== call.process)
        this.#world.violated(
          'one runner at a time',
          `${call.process.name} sent call ${call.number} ` +
            `while ${other.process.name} waits for call ${other.number}`,
        )
    }
    this.#underWay.add(call)
    this.#checkEarlierCalls(call)
    for (const key of listKeys(call, call.deltas))
      if (this.#inDoubt.get(key) === call.process)
        this.#world.violated(
          'in-doubt items are sent whole',
          `${call.process.name} sent call ${call.number} with a part of ${key}`,
        )
  }

  /**
   * Notes the items of a call whose sender was suspended directly before its socket: their state
   * may be false until the sender marks them as doubtful.
   */
  #noteStalled(call: Call): void {
    const cleared = call.items.flatMap((item) => getItemSpec(item).clearedItems)
    for (const key of listKeys(call, [...call.items, ...cleared])) {
      const senders = this.#stalled.get(key) ?? new Set()
      this.#stalled.set(key, senders.add(call.process))
    }
  }

  /** Notes that a process has ended in order: it must have marked its stalled calls. */
  marked(process: Process): void {
    for (const [key, senders] of this.#stalled)
      if (senders.delete(process) && senders.size === 0) this.#stalled.delete(key)
  }

  /** Checks that no earlier call may still affect the items of a call. */
  #checkEarlierCalls(call: Call): void {
    const keys = listKeys(call, call.items)
    this.#mayLand = this.#mayLand.filter(
      (other) => other.mayLand && this.#world.time < other.givenUpAt + this.#settleMs,
    )
    for (const other of this.#mayLand) {
      const shared = listKeys(other, other.items).find((key) => keys.includes(key))
      if (shared !== undefined && isRepeated(call, other)) {
        this.#world.count('calls that repeat a late one')
        continue
      }
      if (shared !== undefined)
        this.#world.violated(
          'no write before an abandoned one has settled',
          `call ${call.number} with ${shared} overtakes call ${other.number}`,
        )
    }
    this.#mayLand.push(call)
  }

  /** Notes that a process knows the outcome of a call, or that the outcome is not certain. */
  ends(call: Call, certain: boolean): void {
    for (const key of listKeys(call, call.items)) {
      if (certain) this.#inDoubt.delete(key)
      else this.#inDoubt.set(key, call.process)
    }
  }

  /** Checks that no more calls arrive within 60 seconds than the call rate allows. */
  arrives(call: Call): void {
    if (call.stalled) return
    const now = this.#world.time
    this.#arrivals = [...this.#arrivals.filter((time) => time > now - minute), now]
    this.#world.count('calls that arrived')
    if (this.#arrivals.length === this.#callsPerMinute) this.#world.count('minutes that were full')
    if (this.#arrivals.length > this.#callsPerMinute)
      this.#world.violated(
        'call rate',
        `call ${call.number} is number ${this.#arrivals.length} within 60 seconds, ` +
          `of ${this.#callsPerMinute}`,
      )
  }

  /** Notes the verdict of the service on a call. */
  lands(call: Call, { status, code }: { status: number; code: number }): void {
    for (const key of listKeys(call, call.items))
      this.#refused.set(key, status !== 200 || code !== 0)
  }

  /**
   * Checks that a bisection ends with the refused item of a domain alone, where the service refuses
   * only that.
   */
  checkIsolated({ domains, items, code }: RefusedPart, faults: Fault[], grouping: Grouping): void {
    const [fault, ...others] = faults.filter(({ kind }) => kind !== 'rewrite')
    if (fault?.domain === undefined || fault.item === undefined || others.length > 0) return
    if (code !== configInvalid) return
    this.#world.count('isolated parts')
    const { domain, item } = fault
    const bound = grouping.together.find((set) => set.includes(item)) ?? [item]
    const isAlone = items.includes(item) && items.every((each) => bound.includes(each))
    if (domains.join() !== domain || !isAlone)
      this.#world.violated(
        'a refused item of a domain is refused alone',
        `${items.join()} of ${domains.join()} is refused, the service refuses ${item} of ${domain}`,
      )
  }

  /** Checks that confirmed state is the configuration at the service, without refused values. */
  checkState(recorded: RecordedState, service: Service, when: string): void {
    for (const domain of service.domains())
      if (recorded.get(domain)?.has(switches) !== true && service.holds(domain).has(switches))
        this.#unrecordedSwitches.add(domain)
    for (const [domain, items] of recorded) {
      for (const [item, state] of items) {
        const value = service.holds(domain).get(item)
        if (includesValue(item, state, value) || this.#isUnknown(domain, item)) continue
        const law =
          state.status !== 'in-doubt' && this.#refused.get(`${item} of ${domain}`) === true
            ? 'nothing refused is confirmed'
            : 'the recorded state is true'
        this.#world.violated(
          law,
          `${when}: ${item} of ${domain} is recorded as ${describeState(state)}, ` +
            `the service holds ${value === undefined ? 'nothing' : canonicalizeJson(value)}`,
        )
      }
    }
  }

  /**
   * Checks that the service has the desired configuration.
   *
   * @param deletes whether the account unsets any item by DELETE
   */
  checkDesired(checkDesired: Snapshot, service: Service, deletes: boolean): void {
    for (const [domain, items] of checkDesired) {
      for (const [item, { candidates }] of items) {
        const value = service.holds(domain).get(item)
        const wanted =
          candidates[0] ?? (deletes ? undefined : computeUnsetValue(item, domain, value))
        if (this.#isUnknown(domain, item)) continue
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
          'the service ends in the desired state',
          `${item} of ${domain} should be ${JSON.stringify(wanted)}, ` +
            `the service holds ${JSON.stringify(value)}`,
        )
      }
    }
  }

  #isUnknown(domain: Domain, item: ItemKey): boolean {
    if (this.#stalled.has(`${item} of ${domain}`)) return true
    return item === switches && this.#unrecordedSwitches.has(domain)
  }
}

/**
 * Checks that the chained history is whole whenever a process has ended or died, and has one entry
 * of each apply whose end is recorded, and none of others.
 */
export function checkHistory(
  world: World,
  files: ReadonlyMap<string, string>,
  key: { id: string; address: string },
  when: string,
): void {
  const paths = buildStatePaths(key)
  const select = (folder: string) =>
    [...files].flatMap(([path, text]): [string, string][] =>
      // A killed process leaves drafts, which nothing reads.
      path.startsWith(`${folder}/`) && !path.endsWith('.tmp')
        ? [[path.slice(folder.length + 1), text]]
        : [],
    )
  const texts = new Map(select(paths.home).filter(([path]) => chainPath.test(path)))
  const journal = new Map(select(paths.journal).map(([name, text]) => [name.slice(0, -5), text]))
  const listBatches = (id: string) =>
    new Map(
      select(`${paths.batches}/${id}`).map(([name, text]) => [
        `${paths.batches}/${id}/${name}`,
        text,
      ]),
    )
  const intents = new Map(
    [...journal.keys()].map((id) => [id, hashStored(paths, id, listBatches(id))]),
  )
  const records = { journal, intents, pruned: files.get(paths.pruned) ?? null }
  const head = files.get(paths.chainHead) ?? null
  const stored = { home: paths.home, texts, head, pending: 0, records }
  for (const { message } of verifyChain(stored, { head: null, verifies: null }).findings)
    world.violated('the history is whole', `${when}: ${message}`)
  const counts = new Map<string, number>()
  for (const text of texts.values()) {
    const { kind, about } = JSON.parse(text) as ChainFile
    if (kind === 'apply' || kind === 'rollback') counts.set(about, (counts.get(about) ?? 0) + 1)
  }
  for (const [name, text] of select(paths.journal)) {
    const { id, outcome } = parseEntry(name, text)
    const expected = outcome === 'unfinished' ? 0 : 1
    const found = counts.get(id) ?? 0
    counts.delete(id)
    world.count(`history: ${outcome}`)
    if (found !== expected)
      world.violated('each apply has one entry', `${when}: ${id} (${outcome}) has ${found}`)
  }
  for (const id of counts.keys())
    world.violated('each apply has one entry', `${when}: ${id} is not in the journal`)
}

/** Returns whether a call and an earlier one lead to the same whole values in any order. */
function isRepeated(call: Call, earlier: Call): boolean {
  return earlier.items.every((item) => {
    if (!call.items.includes(item)) return true
    if (call.deltas.includes(item) || earlier.deltas.includes(item)) return false
    const spec = getItemSpec(item)
    const reduce = (value: Value | undefined, { deletes, config }: Call) =>
      deletes ? undefined : spec.reduce(value, config[item] as Json)
    // A payload without a kept field, such as http2, leaves what the other call has set.
    return isSameJson(
      reduce(reduce(undefined, earlier), call),
      reduce(reduce(undefined, call), earlier),
    )
  })
}

function listKeys({ domains }: Call, items: ItemKey[]): string[] {
  return domains.flatMap((domain) => items.map((item) => `${item} of ${domain}`))
}

/** Returns whether the recorded state of an item includes a value. */
function includesValue(item: ItemKey, state: RecordedItem, value: Value | undefined): boolean {
  if (state.unknown === true) return true
  if (state.candidates.length === 0) return value === undefined
  // A kept field that no recorded write named is not known.
  return state.candidates.some((candidate) =>
    isSameJson(value, fillKeptFields(getItemSpec(item).keptFields, candidate, value)),
  )
}

/** Computes the value of an item after its documented unset, or else a DELETE. */
function computeUnsetValue(
  item: ItemKey,
  domain: Domain,
  value: Value | undefined,
): Value | undefined {
  const spec = getItemSpec(item)
  if (spec.unset === undefined) return undefined
  const values = value === undefined ? [] : [value]
  const payload = spec.unset({ status: 'in-doubt', candidates: values }, domain)
  return payload === null ? value : spec.reduce(value, payload)
}

function describeState({ status, candidates }: RecordedItem): string {
  return `${status} ${candidates.map(canonicalizeJson).join(' or ')}`
}
