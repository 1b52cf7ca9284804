import PQueue from 'p-queue'
import type { Write } from '../model/change.ts'
import type { Domain, ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Plan } from '../model/plan.ts'
import type { RecordedItem, Recorded, Store } from '../state/record.ts'
import type { ApplyEvent, OutcomeCounts } from './events.ts'
import { withConfirmed, withIntents, type Recording } from './record-outcome.ts'
import { rewritten } from './returned.ts'
import { sendWrite, type Sending, type Sent } from './send-write.ts'

const inFlight = 4

/** What an apply works with. */
export interface ApplyContext extends Omit<Sending, 'waiting'> {
  store: Store
  /** Id of this apply. */
  apply: string
  /** Takes the secrets out of a value that the service returned. */
  mask(item: ItemKey, value: Json): Json
  /** Templates of the secrets in a value, by fingerprint. */
  templatesOf(value: Value): Record<string, string>
  tell(event: ApplyEvent): void
}

export interface ApplyResult extends OutcomeCounts {
  /** Whether any write left this machine. */
  sent: boolean
  /** Why the apply ended early; null when it came to its end. */
  stopped: string | null
  /** What the service refused, for messages at the manifests' lines. */
  refusals: { write: Write; message: string }[]
}

/**
 * Carries a plan out. Each write's intent is recorded before it is sent and its outcome as it comes, so that whenever
 * the process dies the record says no more than what is certain. Writes run in the plan's order, at most four at a time
 * and never two that share a domain.
 */
export async function applyPlan(plan: Plan, recorded: Recorded, context: ApplyContext): Promise<ApplyResult> {
  const time = () => new Date(context.clock.now()).toISOString()
  const result: ApplyResult = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0, sent: false, stopped: null, refusals: [] }
  const releases = plan.changes.filter((change) => change.action === 'release')
  context.tell({ type: 'apply.started', time: time(), apply: context.apply, writes: plan.writes.length, releases: releases.length })
  release(releases, recorded, context.store)

  const queue = new PQueue({ concurrency: inFlight })
  const lastOf = new Map<Domain, Promise<void>>()
  for (const write of plan.writes) {
    const before = Promise.all(write.domains.flatMap((domain) => lastOf.get(domain) ?? []))
    // An earlier place in the plan is a higher priority, so that freed writes overtake nobody.
    const done = before.then(() => queue.add(() => carryOut(write, recorded, context, result, time), { priority: -write.id }))
    for (const domain of write.domains) lastOf.set(domain, done)
  }
  await Promise.all(lastOf.values())

  if (plan.writes.length > 0) context.tell({ type: 'wave.finished', time: time(), wave: 1 })
  const { confirmed, refused, inDoubt, notSent } = result
  context.tell({
    type: 'apply.finished',
    time: time(),
    apply: context.apply,
    stopped: result.stopped,
    confirmed,
    refused,
    inDoubt,
    notSent,
  })
  return result
}

function release(releases: { domain: Domain; item: ItemKey }[], recorded: Recorded, store: Store): void {
  const touched = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item } of releases) {
    const items = recorded.get(domain)
    if (items === undefined) continue
    items.delete(item)
    touched.set(domain, items)
  }
  if (touched.size > 0) store.save(touched)
}

async function carryOut(write: Write, recorded: Recorded, context: ApplyContext, result: ApplyResult, time: () => string): Promise<void> {
  if (context.signal.aborted) result.stopped ??= 'interrupted'
  if (result.stopped !== null) {
    result.notSent++
    context.tell({ type: 'write.not-sent', time: time(), id: write.id, message: result.stopped })
    return
  }
  await settled(write, recorded, context, time)
  context.tell({ type: 'write.started', time: time(), id: write.id, domains: write.domains, items: Object.keys(write.items) })
  const before = itemsOf(write, recorded)
  const recording: Recording = { at: time(), apply: context.apply, templatesOf: context.templatesOf }
  keep(write, recorded, context.store, (items) => withIntents(items, write.items, recording))
  const sent = await sendWrite(write, {
    ...context,
    waiting: (ms, message) => context.tell({ type: 'write.waiting', time: time(), id: write.id, seconds: Math.ceil(ms / 1000), message }),
  })
  conclude(write, before, sent, recorded, context, result, time)
}

/** An item in doubt is rewritten no sooner than a write that was given up can have landed. */
async function settled(write: Write, recorded: Recorded, context: ApplyContext, time: () => string): Promise<void> {
  const doubted = [...itemsOf(write, recorded).values()].flatMap((items) =>
    Object.keys(write.items).flatMap((item) => {
      const held = items.get(item)
      return held?.status === 'in-doubt' ? [Date.parse(held.at)] : []
    }),
  )
  const since = context.clock.now() - Math.max(...doubted)
  const wait = Math.min(context.settleMs, context.settleMs - since)
  if (doubted.length === 0 || !(wait > 0)) return
  const message = 'an earlier write of these items may still land'
  context.tell({ type: 'write.waiting', time: time(), id: write.id, seconds: Math.ceil(wait / 1000), message })
  await context.clock.sleep(wait, context.signal)
}

function conclude(
  write: Write,
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>,
  { outcome, doubted }: Sent,
  recorded: Recorded,
  context: ApplyContext,
  result: ApplyResult,
  time: () => string,
): void {
  const about = { time: time(), id: write.id }
  const asBefore = () => keep(write, recorded, context.store, (_items, domain) => new Map(before.get(domain)))
  if (outcome.kind !== 'not sent' || doubted) result.sent = true
  switch (outcome.kind) {
    case 'confirmed': {
      const returned = rewritten(write.items, outcome.config, context.mask)
      const recording: Recording = { at: about.time, apply: context.apply, templatesOf: context.templatesOf }
      keep(write, recorded, context.store, (_items, domain) =>
        withConfirmed(before.get(domain) ?? new Map(), write.items, returned, recording),
      )
      result.confirmed++
      const items = Object.keys(returned)
      context.tell({ type: 'write.confirmed', ...about, ...(items.length === 0 ? {} : { rewritten: items }) })
      return
    }
    case 'refused':
      // Only what was sent to one domain is known not to have been saved: the specification says that an invalid item
      // spoils the write, not what one bad domain does.
      if (write.domains.length === 1 && !doubted) asBefore()
      result.refused++
      result.refusals.push({ write, message: outcome.message })
      if (outcome.fatal) result.stopped ??= `the service answered HTTP ${outcome.status}: ${outcome.message}`
      context.tell({ type: 'write.refused', ...about, code: outcome.code, message: outcome.message })
      return
    case 'in doubt':
      result.inDoubt++
      context.tell({ type: 'write.in-doubt', ...about, message: outcome.message })
      return
    case 'not sent':
      asBefore()
      result.notSent++
      result.stopped ??= outcome.message
      context.tell({ type: 'write.not-sent', ...about, message: outcome.message })
  }
}

function itemsOf(write: Write, recorded: Recorded): Map<Domain, ReadonlyMap<ItemKey, RecordedItem>> {
  return new Map(write.domains.map((domain) => [domain, new Map(recorded.get(domain))]))
}

/** Records something of every domain of a write, durably. */
function keep(
  write: Write,
  recorded: Recorded,
  store: Store,
  change: (items: ReadonlyMap<ItemKey, RecordedItem>, domain: Domain) => Map<ItemKey, RecordedItem>,
): void {
  const touched = new Map(write.domains.map((domain) => [domain, change(recorded.get(domain) ?? new Map(), domain)]))
  store.save(touched)
  for (const [domain, items] of touched) recorded.set(domain, items)
}
