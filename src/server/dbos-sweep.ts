import type { Clock } from '../model/clock.ts'
import type { DBOS } from './dbos.ts'
import type { Logger } from './logger.ts'

/** Age at which a workflow that has ended is deleted, ms. */
const keptMs = 7 * 86_400_000
/** Number of workflows that are deleted at once: a transaction of that size takes no second. */
const batchSize = 500
/** Waits between two batches, and after the last one, ms. */
const [batchMs, roundMs] = [10_000, 3_600_000]

/** What deletes workflows. */
export interface SweepContext {
  dbos: Pick<typeof DBOS, 'listWorkflows' | 'deleteWorkflows'>
  /** Name of the application whose workflows these are. */
  application: string
  clock: Pick<Clock, 'now' | 'sleep'>
  logger: Logger
  signal: AbortSignal
  /** Waits for a call of the engine; throws EdgewiseError after an interrupt. */
  wait<T>(call: Promise<T>): Promise<T>
}

/**
 * Deletes the workflows of an application a week after their end, until an interrupt: a drift check
 * a minute would leave half a million a year. A failure is logged, and tried again an hour later.
 */
export async function sweepEnded(context: SweepContext): Promise<void> {
  const { clock, logger, signal } = context
  while (!signal.aborted) {
    let isLast = true
    try {
      isLast = (await deleteBatch(context)) < batchSize
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if (!signal.aborted) logger.warn(`ended workflows are not deleted: ${error.message}`)
    }
    await clock.sleep(isLast ? roundMs : batchMs, signal)
  }
}

/** Deletes the oldest ended workflows; returns their number. */
async function deleteBatch({ dbos, application, clock, wait }: SweepContext): Promise<number> {
  const found = await wait(
    dbos.listWorkflows({
      applicationName: application,
      completedBefore: new Date(clock.now() - keptMs).toISOString(),
      limit: batchSize,
      loadInput: false,
      loadOutput: false,
    }),
  )
  // The engine lists those without an application as well.
  const own = found.filter(({ applicationName }) => applicationName === application)
  if (own.length > 0) await wait(dbos.deleteWorkflows(own.map(({ workflowID }) => workflowID)))
  return own.length
}
