import type { Change, Write } from '../model/change.ts'
import type { Domain } from '../model/item.ts'
import type { RecordedState } from '../state/store.ts'
import { createRecording } from './attempt.ts'
import { moveCounts, moveWrites } from './counts.ts'
import { buildWave } from './intents.ts'
import type { Run } from './run.ts'

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
    this.#batches = writes.length === 0 ? [[]] : splitIntoBatches(writes, size)
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
      await run.inOrder(async () => {
        const recording = createRecording(run)
        const number = run.batches + 1
        const wave = buildWave(
          number,
          writes,
          releases,
          run.recorded,
          recording,
          run.timeoutMs + run.settleMs,
          this.#possible,
        )
        await run.store.recordIntents(run.toApplied(moveCounts(run.counts, moves)), wave)
        run.counts = moveCounts(run.counts, moves)
        run.batches = number
      })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      run.stop(`the intents of the next writes could not be recorded: ${reason}`)
      return { error }
    }
    for (const { id } of writes) run.begun.add(id)
    for (const domain of writes.flatMap(({ domains }) => domains))
      if (this.#last.get(domain) === index) this.#possible.delete(domain)
    return null
  }
}

function splitIntoBatches(writes: Write[], size: number): Write[][] {
  return Array.from({ length: Math.ceil(writes.length / size) }, (_, i) =>
    writes.slice(i * size, (i + 1) * size),
  )
}
