import type { JsonObject } from '../model/json.ts'
import type { Workflow } from './engine.ts'

/** How a step of a rollout ended. */
export interface Advanced {
  /** Time until the next step, ms; null if the rollout has ended or waits for a decision. */
  waitMs: number | null
}

/**
 * Creates the workflow that carries a rollout on: it applies, waits, judges, and applies the next
 * wave. What it has reached is in the recorded rollout, so each step begins with that, also a step
 * that ran before; the workflow itself has the time at which the next one is due.
 */
export function createRolloutWorkflow(advance: (id: string) => Promise<Advanced>): Workflow {
  return async (input, durable) => {
    const id = parseInput(input)
    for (;;) {
      const { waitMs } = await durable.step('advance', () => advance(id))
      if (waitMs === null) return
      await durable.sleep(waitMs)
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
