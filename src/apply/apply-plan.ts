import PQueue from 'p-queue'
import type { Change, Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { Recorded, RecordedItem, Store } from '../state/record.ts'
import { carryOut } from './carry-out.ts'
import type { ApplyContext, ApplyResult, Run } from './run.ts'
import { endedEarly } from './send-write.ts'

const inFlight = 4

/**
 * Carries a plan out. Each write's intent is recorded before it is sent and its outcome as it comes, so that whenever
 * the process dies the record says no more than what is certain. Writes run in the plan's order, at most four at a time
 * and never two that share a domain.
 *
 * @throws what a store throws that can't record; writes under way are recorded first as far as they can be
 */
export async function applyPlan(plan: Plan, recorded: Recorded, context: ApplyContext): Promise<ApplyResult> {
  const run = runOf(plan, recorded, context)
  const { result } = run
  const releases = plan.changes.filter((change) => change.action === 'release')
  run.tell({ type: 'apply.started', time: run.time(), apply: run.apply, writes: plan.writes.length, releases: releases.length })
  release(releases, recorded, run.store)

  const queue = new PQueue({ concurrency: inFlight })
  const lastOf = new Map<Domain, Promise<unknown>>()
  const all = plan.writes.map((write) => {
    const before = Promise.all(write.domains.flatMap((domain) => lastOf.get(domain) ?? []))
    // An earlier place in the plan is a higher priority, so that freed writes overtake nobody.
    const done = before.then(() => queue.add(() => one(write, run), { priority: -write.id }))
    for (const domain of write.domains) lastOf.set(domain, done)
    return done
  })
  const failed = (await Promise.allSettled(all)).find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason

  if (plan.writes.length > 0) run.tell({ type: 'wave.finished', time: run.time(), wave: 1 })
  const { confirmed, refused, inDoubt, notSent } = result
  run.tell({ type: 'apply.finished', time: run.time(), apply: run.apply, stopped: result.stopped, confirmed, refused, inDoubt, notSent })
  return result
}

function runOf(plan: Plan, recorded: Recorded, context: ApplyContext): Run {
  const halt = new AbortController()
  const targets = new Map(plan.changes.map((change) => [`${change.domain} ${change.item}`, change.after]))
  const result: ApplyResult = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0, sent: false, stopped: null, refusals: [] }
  return {
    ...context,
    random: () => context.random(),
    leaseLeftMs: () => context.leaseLeftMs(),
    reveal: (payload) => context.reveal(payload),
    mask: (item, value) => context.mask(item, value),
    templatesOf: (value) => context.templatesOf(value),
    tell: (event) => context.tell(event),
    signal: AbortSignal.any([context.signal, halt.signal]),
    recorded,
    target: (domain, item) => targets.get(`${domain} ${item}`) ?? null,
    result,
    stop: (why) => {
      result.stopped ??= why
      halt.abort(why)
    },
    time: () => new Date(context.clock.now()).toISOString(),
  }
}

/** One write in its turn. A failure to record ends the apply for all. */
async function one(write: Write, run: Run): Promise<void> {
  if (run.signal.aborted) {
    run.result.stopped ??= endedEarly(run.signal)
    run.result.notSent++
    run.tell({ type: 'write.not-sent', time: run.time(), id: write.id, message: run.result.stopped })
    return
  }
  try {
    await carryOut(write, run)
  } catch (error) {
    run.stop('the record could not be written')
    throw error
  }
}

function release(releases: Change[], recorded: Recorded, store: Store): void {
  const touched = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item } of releases) {
    const items = recorded.get(domain)
    if (items === undefined) continue
    items.delete(item)
    touched.set(domain, items)
  }
  if (touched.size > 0) store.save(touched)
}
