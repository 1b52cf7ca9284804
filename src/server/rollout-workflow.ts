import type { JsonObject } from '../model/json.ts'
import type { Workflow } from './engine.ts'

/** How a step of a rollout ended. */
export interface Advanced {
  /**
   * Time until the next step, ms; `retry` if this one failed; null if the rollout has ended or
   * waits for a decision.
   */
  waitMs: number | 'retry' | null
}

/**
 * Waits after the first failed step, and the longest one, ms; each is twice as long. Nothing cuts
 * them short.
 */
const [retryMs, maxRetryMs] = [60_000, 5 * 60_000]
/** Number of steps after which a workflow ends, so that what the engine keeps of it is bounded. */
const maxSteps = 100

/**
 * Creates the workflow that carries a rollout on: it applies, waits, judges, and applies the next
 * wave. What it has reached is in the recorded rollout, so each step begins with that, also a step
 * that ran before; the workflow itself has the time at which the next one is due. It may end before
 * the rollout: the controller starts one for each rollout that has none.
 */
export function createRolloutWorkflow(advance: (id: string) => Promise<Advanced>): Workflow {
  return async (input, durable) => {
    const id = parseInput(input)
    let retryWaitMs = retryMs
    for (let step = 1; step <= maxSteps; step++) {
      const { waitMs } = await durable.step('advance', () => advance(id))
      if (waitMs === null) return
      await durable.sleep(waitMs === 'retry' ? retryWaitMs : waitMs)
      retryWaitMs = waitMs === 'retry' ? Math.min(maxRetryMs, retryWaitMs * 2) : retryMs
    }
  }
}

/** Builds the input of the workflow of a rollout. */
export function buildInput(rollout: string): JsonObject {
  return { rollout }
}

function parseInput({ rollout }: JsonObject): string {
  if (typeof rollout !== 'string') throw new TypeError('expected the input to name a rollout')
  return rollout
}
