import PQueue from 'p-queue'
import type { QueryContext } from './query.ts'

/** Results of one part of a question. */
export interface Batch<T> {
  results: T[]
  /** Number of finished parts. */
  done: number
  /** Number of all parts. */
  total: number
}

/** Maximum number of parts in progress, including those that wait for the pace. */
const maxConcurrent = 8

/**
 * Queries parts concurrently and yields a batch for each, in the order of the answers. The first
 * batch is empty and comes before any query. The next part starts only when a batch has been
 * consumed, which limits the batches in memory. The first failure aborts all queries and is thrown
 * when none is in flight. Leaving the loop aborts them too.
 */
export async function* queryParts<P, T>(
  parts: P[],
  context: QueryContext,
  queryPart: (part: P, context: QueryContext) => Promise<T[]>,
): AsyncGenerator<Batch<T>, void, undefined> {
  const stop = new AbortController()
  const signals = context.signal === undefined ? [stop.signal] : [stop.signal, context.signal]
  const stoppable: QueryContext = { ...context, signal: AbortSignal.any(signals) }
  const queue = new PQueue({ concurrency: maxConcurrent })
  const answers: T[][] = []
  const remaining = parts.values()
  const beginNext = () => {
    const part = remaining.next().value
    if (part !== undefined) void queue.add(() => keepAnswer(part))
  }
  const keepAnswer = async (part: P) => {
    try {
      answers.push(await queryPart(part, stoppable))
    } catch (error) {
      // Only the first abort has an effect: the other parts fail because of it.
      stop.abort(error)
    }
  }
  const total = parts.length
  try {
    yield { results: [], done: 0, total }
    for (let i = 0; i < maxConcurrent; i++) beginNext()
    for (let done = 1; done <= total; done++) {
      while (answers.length === 0 && !stop.signal.aborted)
        await new Promise<void>((resolve) => queue.once('next', resolve))
      stop.signal.throwIfAborted()
      yield { results: answers.shift() ?? [], done, total }
      beginNext()
    }
  } finally {
    stop.abort()
    await queue.onIdle()
  }
}
