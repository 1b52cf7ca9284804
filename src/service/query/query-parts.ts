import type { QueryContext } from './query.ts'
import type { Part } from './split-question.ts'

/** Results of one part of a question, and how many of all its parts are done. */
export interface Batch<T> {
  results: T[]
  done: number
  total: number
}

/** Parts that are queried or wait for the pace at a time. */
const maxSideBySide = 8

interface Finished<T> {
  query: Promise<Finished<T>>
  results: T[]
}

/**
 * Queries parts side by side and yields a batch for each in the order of the answers; the first is
 * empty, before anything is queried. A part begins only when a batch has been consumed, so that no
 * more than those side by side are in memory. The first failure ends all queries and is thrown
 * when none is in flight any more; leaving the loop ends them as well.
 */
export async function* queryParts<T>(
  parts: Part[],
  context: QueryContext,
  queryPart: (part: Part, context: QueryContext) => Promise<T[]>,
): AsyncGenerator<Batch<T>, void, undefined> {
  const stop = new AbortController()
  const signals = context.signal === undefined ? [stop.signal] : [stop.signal, context.signal]
  const stoppable: QueryContext = { ...context, signal: AbortSignal.any(signals) }
  const waiting = parts.values()
  const running = new Set<Promise<Finished<T>>>()
  const beginNext = () => {
    const part = waiting.next().value
    if (part === undefined) return
    const query: Promise<Finished<T>> = queryPart(part, stoppable).then(
      (results) => ({ query, results }),
      (error: unknown) => {
        // Only the first reason stays: the others fail since they are aborted.
        stop.abort(error)
        return { query, results: [] }
      },
    )
    running.add(query)
  }
  const total = parts.length
  try {
    yield { results: [], done: 0, total }
    for (let i = 0; i < maxSideBySide; i++) beginNext()
    for (let done = 1; running.size > 0; done++) {
      const { query, results } = await Promise.race(running)
      stop.signal.throwIfAborted()
      running.delete(query)
      yield { results, done, total }
      beginNext()
    }
  } finally {
    stop.abort()
    await Promise.all(running)
  }
}
