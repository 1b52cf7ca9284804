import PQueue from 'p-queue'
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
  const queue = new PQueue({ concurrency: maxSideBySide })
  const answers: T[][] = []
  const waiting = parts.values()
  const beginNext = () => {
    const part = waiting.next().value
    if (part !== undefined) void queue.add(() => keepAnswer(part))
  }
  const keepAnswer = async (part: Part) => {
    try {
      answers.push(await queryPart(part, stoppable))
    } catch (error) {
      // Only the first reason stays: the others fail since they are aborted.
      stop.abort(error)
    }
  }
  const total = parts.length
  try {
    yield { results: [], done: 0, total }
    for (let i = 0; i < maxSideBySide; i++) beginNext()
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
