import type { Change, Write } from '../../core/model/change.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { splitIntoChunks } from '../../core/model/lists.ts'
import { setItem, type Domain, type ItemKey } from '../../core/model/item.ts'
import type { RecordedState, RecordedItem, Batch } from '../../state/store/store.ts'
import { createRecording } from './attempt.ts'
import { moveCounts, moveWrites, type Run } from './run.ts'
import { explainError } from './report-parts.ts'
import { withIntents, type Recording } from './record-outcome.ts'

/** Maximum number of writes of a batch. It also has at most those of 60 seconds of the budget. */
const maxWrites = 200

/** Failure to record the intents of a batch. */
interface Failure {
  error: unknown
}

/**
 * Intents of a wave, recorded in batches: each before the first of its writes is sent, and while
 * the batch before it is sent. A killed process leaves only the writes of recorded batches
 * in-doubt.
 */
export class IntentBatches {
  readonly #batches: Write[][]
  /** Index of a write's batch, and of the batch to record when the write begins. */
  readonly #places = new Map<number, { own: number; next: number }>()
  readonly #releases: Change[]
  readonly #run: Run
  /**
   * State with the intents so far, of domains with later writes: a later delta starts from every
   * value that may be left.
   */
  readonly #possible: RecordedState
  /** Index of the last batch that writes a domain. */
  readonly #last = new Map<Domain, number>()
  readonly #recorded: Promise<Failure | null>[] = []

  /** @param releases releases that the first batch records */
  constructor(writes: Write[], releases: Change[], run: Run) {
    const size = Math.min(maxWrites, run.budget.callsPerMinute)
    this.#batches = writes.length === 0 ? [[]] : splitIntoChunks(writes, size)
    for (const [own, batch] of this.#batches.entries())
      for (const [i, { id, domains }] of batch.entries()) {
        this.#places.set(id, { own, next: own + Math.floor((2 * i) / batch.length) })
        for (const domain of domains) this.#last.set(domain, own)
      }
    this.#releases = releases
    this.#run = run
    this.#possible = new Map(run.recorded)
  }

  /** Records the first batch. Returns the failure, which has stopped the apply, or null. */
  recordFirst(): Promise<Failure | null> {
    return this.#recordUpTo(0)
  }

  /**
   * Returns null once the intents of a write are recorded or the apply has stopped, otherwise the
   * failure, which has stopped the apply. The second half of a batch starts recording the next one.
   */
  begin({ id }: Write): Promise<Failure | null> {
    const { own, next } = this.#places.get(id) ?? { own: 0, next: 0 }
    const recorded = this.#recordUpTo(own)
    void this.#recordUpTo(Math.min(next, this.#batches.length - 1))
    return recorded
  }

  async #recordUpTo(index: number): Promise<Failure | null> {
    while (this.#recorded.length <= index) this.#recorded.push(this.#record(this.#recorded.length))
    const failures = await Promise.all(this.#recorded.slice(0, index + 1))
    return failures.find((failure) => failure !== null) ?? null
  }

  /** Records a batch, unless the apply has stopped. */
  async #record(index: number): Promise<Failure | null> {
    const run = this.#run
    const writes = this.#batches[index] ?? []
    await this.#recorded[index - 1]
    if (run.signal.aborted) return null
    const releases = index === 0 ? this.#releases : []
    const moves = [moveWrites(writes, 'notSent', 'inDoubt')]
    try {
      await refuseLoss(run.lease)
      await run.inOrder(async () => {
        const recording = createRecording(run)
        const number = run.batches + 1
        const batch = buildBatch(
          number,
          writes,
          releases,
          run.recorded,
          recording,
          run.timeoutMs + run.settleMs,
          this.#possible,
        )
        await run.store.recordIntents(run.toApplied(moveCounts(run.counts, moves)), batch)
        run.counts = moveCounts(run.counts, moves)
        run.batches = number
      })
    } catch (error) {
      const why = explainError(error)
      run.stop({ message: `the intents of the next writes could not be recorded: ${why}` })
      return { error }
    }
    for (const { id } of writes) run.begun.add(id)
    for (const domain of writes.flatMap(({ domains }) => domains))
      if (this.#last.get(domain) === index) this.#possible.delete(domain)
    return null
  }
}

/**
 * Refuses to record for a process whose lock is lost, after a suspension for example: the next
 * holder could record neither its outcomes nor its calls after that.
 */
async function refuseLoss(lease: Run['lease']): Promise<void> {
  if (lease.check(0) === 'look') await lease.look()
  const clearance = lease.check(0)
  // A stop of the account leaves the writes unsent, and the lock with this process.
  if (typeof clearance === 'string' || clearance.isStop === true) return
  throw new EdgewiseError(
    'record-moved',
    clearance.refused,
    'Run the same command again when no other command changes the state.',
  )
}

/**
 * Builds the intents of a batch: each item that it writes, clears or releases, with its current
 * state and its possible state until the outcome is recorded.
 *
 * @param landWithinMs timeout plus settle time of its calls
 * @param possible state with the intents of earlier batches; those of this batch are added to it
 */
export function buildBatch(
  number: number,
  writes: Write[],
  releases: Change[],
  recorded: RecordedState,
  recording: Recording,
  landWithinMs: number,
  possible: RecordedState = new Map(recorded),
): Batch {
  const before = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
  const keepBefore = (domain: Domain, item: ItemKey) =>
    setItem(before, domain, item, recorded.get(domain)?.get(item) ?? null)
  const intents = new Map<number, RecordedState>()
  for (const write of writes) {
    const domains: RecordedState = new Map()
    for (const domain of write.domains) {
      const items = possible.get(domain) ?? new Map<ItemKey, RecordedItem>()
      const after = withIntents(items, write.items, recording, domain)
      possible.set(domain, after)
      const changing = [...after].filter(([item, state]) => items.get(item) !== state)
      for (const [item] of changing) keepBefore(domain, item)
      domains.set(domain, new Map(changing))
    }
    intents.set(write.id, domains)
  }
  for (const { domain, item } of releases) keepBefore(domain, item)
  return { number, before, intents, landWithinMs }
}

/** Removes items from state; returns the domains with their remaining items. */
export function removeItems(
  leaving: { domain: Domain; item: ItemKey }[],
  recorded: RecordedState,
): RecordedState {
  const touched: RecordedState = new Map()
  for (const { domain, item } of leaving) {
    const items = touched.get(domain) ?? new Map(recorded.get(domain))
    items.delete(item)
    touched.set(domain, items)
  }
  return touched
}
