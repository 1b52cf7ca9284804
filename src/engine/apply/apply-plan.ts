import { setMaxListeners } from 'node:events'
import PQueue from 'p-queue'
import { nameChange, toPart, type Change, type Write } from '../../core/model/change.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { EndReason } from '../../core/model/outcome.ts'
import type { Plan } from '../../core/model/plan.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import type { Applied } from '../../core/model/applied.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { recordItems } from './attempt.ts'
import {
  createCounts,
  isAllConfirmed,
  moveCounts,
  type ApplyContext,
  type ApplyResult,
  type Run,
  createOutcomeRecorder,
} from './run.ts'
import { createEmptyResult, endEarly } from './results.ts'
import { executeWrite, reportNotSent, waitToSettle } from './execute-write.ts'
import { IntentBatches, removeItems } from './intent-batches.ts'
import { explainAbort } from './send-write.ts'
import { loadEarlierCalls, type EarlierCalls } from './earlier-calls.ts'
import { startSharing } from './sharing.ts'
import { listClearedItems } from '../../core/catalog/wire-names.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { HangingRemoteError } from '../../state/git/remote-calls.ts'

/** Maximum number of calls at the same time. */
export const maxInFlight = 4

/**
 * Executes a plan. The intent of a write is recorded before it is sent, and each outcome as it
 * arrives, so that the recorded state is true whenever the process dies. Writes run in the order of
 * the plan, at most four at a time, and never two that share a domain.
 *
 * @throws the error of a store that can't record before anything was sent
 */
export async function applyPlan(
  plan: Plan,
  base: RecordedState,
  context: ApplyContext,
): Promise<ApplyResult> {
  const affected = plan.writes.map(toPart)
  const { atMs } = context.lockedAt
  const earlier = await loadEarlierCalls(affected, base, atMs, context.store, context.itemKeys)
  const run = createRun(plan, base, context, earlier)
  const { result, store } = run
  const releases = plan.changes.filter((change) => change.action === 'release')
  const [writeCount, releaseCount] = [plan.writes.length, releases.length]
  run.report({
    type: 'apply.started',
    apply: run.apply,
    writes: writeCount,
    releases: releaseCount,
  })

  const grouped: Map<number, Write[]> = groupBy(plan.writes, (write) => write.wave)
  const waves = [...grouped].toSorted(([a], [b]) => a - b)
  if (waves.length === 0 && releases.length > 0) waves.push([1, []])
  try {
    for (const [i, [wave, writes]] of waves.entries()) {
      const attributes = { 'edgewise.wave': wave, 'edgewise.writes': writes.length }
      const send = () => sendWave(wave, writes, i === 0 ? releases : [], run)
      await inSpan('wave', send, attributes)
    }
    if (waves.length > 0)
      await store.endApply({
        ...run.toApplied(run.counts),
        endedAt: run.time(),
        refusals: result.refusals.length === 0 ? undefined : result.refusals.slice(0, maxRefusals),
        outcome: determineOutcome(run, context.signal),
      })
  } catch (error) {
    // The known outcomes are reported; writes without a recorded outcome count as in-doubt.
    if (!(error instanceof EdgewiseError) || !result.sent) throw error
    result.stopped ??= error.message
    result.unrecorded = error.message
    result.unsettled = listUnsettled(plan.writes, run)
  }
  const failure = waves.length > 0 ? await run.sharing.end() : null
  if (failure !== null && result.unrecorded === null) {
    result.stopped ??= explainUnshared(failure)
    result.unrecorded = failure.message
    // After other errors these outcomes can't be kept.
    result.unshared = failure instanceof EdgewiseError && failure.code === 'record-unreachable'
  }
  if (result.unrecorded !== null) await markDoubtful(plan.writes, run, context.signal)

  const { writes, parts } = run.counts
  const { stopped, interrupted } = result
  const history = store.chain?.newest?.hash
  const counts = { ...writes, parts, history }
  run.report({ type: 'apply.finished', apply: run.apply, stopped, interrupted, ...counts })
  return Object.assign(result, writes, { parts })
}

/** Refused parts that the journal keeps. */
const maxRefusals = 50

/** Lists the writes that were not sent, and whose intents are the last that is recorded of them. */
function listUnsettled(writes: Write[], { begun, settled, called }: Run): ApplyResult['unsettled'] {
  return writes.filter(({ id }) => begun.has(id) && !settled.has(id) && !called.has(id)).map(toPart)
}

/** Sends the writes of a wave, and removes released items from state first. */
async function sendWave(
  wave: number,
  writes: Write[],
  releases: Change[],
  run: Run,
): Promise<void> {
  const intents = new IntentBatches(writes, releases, run)
  const failure = await intents.recordFirst()
  if (failure !== null) throwUnlessSent(failure.error, run)
  if (run.signal.aborted) endEarly(run.result, explainAbort(run.signal))
  else if (releases.length > 0) await release(removeItems(releases, run.recorded), run)
  await sendAll(writes, intents, run)
  if (writes.length > 0) run.report({ type: 'wave.finished', wave })
}

/** Throws a failure to record intents if nothing was sent, or if it is a defect. */
function throwUnlessSent(error: unknown, run: Run): void {
  if (!(error instanceof EdgewiseError) || run.called.size === 0) throw error
}

function createRun(
  plan: Plan,
  base: RecordedState,
  context: ApplyContext,
  earlier: EarlierCalls,
): Run {
  const recorded: RecordedState = new Map(base)
  const halt = new AbortController()
  const signal = AbortSignal.any([context.signal, halt.signal])
  // Any number of writes may wait at the same time.
  setMaxListeners(0, signal)
  const changes = new Map(plan.changes.map((change) => [nameChange(change), change]))
  const result = createEmptyResult(recorded)
  const { atMs, upMs, uptimeMs } = context.lockedAt
  // Some systems report the time with that asleep in whole seconds only.
  const now = () =>
    atMs + Math.max(context.clock.monotonic() - upMs, context.uptime() - uptimeMs - 1000)
  const time = () => new Date(now()).toISOString()
  const startedAt = time()
  const stop = (why: EndReason) => {
    endEarly(result, why)
    halt.abort(why.message)
  }
  const inOrder = createSerialQueue()
  const run: Run = {
    ...context,
    report: (event) => context.report({ time: time(), ...event }),
    signal,
    recorded,
    ...earlier,
    findTarget: (domain, item) => changes.get(nameChange({ domain, item }))?.after ?? null,
    listWritten: (domain, item) => changes.get(nameChange({ domain, item }))?.writtenFields,
    result,
    counts: createCounts(plan.writes),
    batches: 0,
    begun: new Set(),
    settled: new Set(),
    called: new Set(),
    inOrder,
    recordOutcomes: createOutcomeRecorder(inOrder, async ({ writes, moves, domains }) => {
      const applied = run.toApplied(moveCounts(run.counts, moves))
      await run.store.recordOutcomes(applied, writes, domains)
      for (const id of writes) run.settled.add(id)
      run.counts = moveCounts(run.counts, moves)
    }),
    stop,
    now,
    time,
    toApplied: (counts) => buildApplied(context, startedAt, counts),
    sharing: startSharing(context.store.share, context.clock, (failure) =>
      stop({ message: explainUnshared(failure) }),
    ),
  }
  return run
}

/** Builds the journal entry of an apply that has not ended. */
function buildApplied(
  { apply: id, tree, author, workspace, grounds }: ApplyContext,
  startedAt: string,
  { writes, parts }: Pick<Applied, 'writes' | 'parts'>,
): Applied {
  return {
    id,
    startedAt,
    endedAt: null,
    ...tree,
    author,
    workspace,
    ...grounds,
    writes,
    parts,
    outcome: 'unfinished',
  }
}

function explainUnshared({ message }: Error): string {
  return `the outcomes could not be shared: ${message}`
}

/**
 * Sends the writes of a wave. A failure to record ends the apply once the writes in flight have
 * ended.
 */
async function sendAll(writes: Write[], intents: IntentBatches, run: Run): Promise<void> {
  const queue = new PQueue({ concurrency: maxInFlight })
  const lastByDomain = new Map<Domain, Promise<unknown>>()
  const all = writes.map((write) => {
    const before = Promise.all(write.domains.flatMap((domain) => lastByDomain.get(domain) ?? []))
    // Earlier writes have priority over later ones that become free.
    // A write that waits for a late call of an earlier apply must not delay the others.
    const done = before
      .then(() => waitToSettle(write, run))
      .then(() => queue.add(() => sendNext(write, intents, run), { priority: -write.id }))
    for (const domain of write.domains) lastByDomain.set(domain, done)
    return done
  })
  const failed = (await Promise.allSettled(all)).find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/**
 * Sends one write once its intent is recorded, unless the apply has stopped. A failure to record
 * stops the apply.
 */
async function sendNext(write: Write, intents: IntentBatches, run: Run): Promise<void> {
  const failure = await intents.begin(write)
  if (failure !== null) throwUnlessSent(failure.error, run)
  if (run.signal.aborted) {
    reportNotSent(write, endEarly(run.result, explainAbort(run.signal)), run)
    return
  }
  try {
    await executeWrite(write, run)
  } catch (error) {
    run.stop({ message: 'the state could not be recorded' })
    throw error
  }
}

async function release(touched: RecordedState, run: Run): Promise<void> {
  const domains = [...touched.keys()]
  const getItems = (domain: Domain) => touched.get(domain) ?? new Map()
  await recordItems({ domains }, run, getItems, { writes: [], moves: [] })
}

function determineOutcome({ counts, result }: Run, signal: AbortSignal): Applied['outcome'] {
  if (signal.aborted && result.stopped !== null) return 'interrupted'
  return isAllConfirmed(counts.writes, counts.parts) ? 'complete' : 'incomplete'
}

const maxAttempts = 30
const retryMs = 10_000

/**
 * Leaves a doubt mark if the outcomes of an apply can't be recorded and its lock is lost: its calls
 * may have taken effect after those of the next holder, who has recorded them as confirmed.
 */
async function markDoubtful(writes: Write[], run: Run, interrupt: AbortSignal): Promise<void> {
  const { lease, store, apply, called, result } = run
  if (called.size === 0) return
  await lease.look()
  const clearance = lease.check(0)
  // Nobody else has written: the intents without an outcome are in-doubt.
  if (clearance === 'clear') return
  const isLost = clearance !== 'look'
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.markDoubtful(apply, [...called], listCleared(writes, run))
    } catch (error) {
      throwDefect(error)
      if (!isLost) return
      const isTransient =
        error.code === 'record-unreachable' && !(error instanceof HangingRemoteError)
      if (!isTransient || interrupt.aborted || attempt === maxAttempts) {
        const count = pluralize(called.size, 'write')
        result.unrecorded +=
          `; ${count} could not be marked as in-doubt (${error.message}): ` +
          'state may be wrong, compare it with the service'
        return
      }
    }
    await run.clock.sleep(retryMs, interrupt)
  }
}

/** Lists the items that some writes clear, also where they were not recorded before. */
function listCleared(writes: Write[], { called, itemKeys }: Run): ItemKey[] {
  const items = writes
    .filter(({ id }) => called.has(id))
    .flatMap((write) => Object.keys(write.items))
  return [...new Set(items.flatMap((item) => listClearedItems(item, itemKeys)))]
}
