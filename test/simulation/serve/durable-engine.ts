import type { JsonObject } from '../../../src/model/json.ts'
import type { Durable, Engine, Workflows } from '../../../src/server/engine.ts'
import type { Process } from '../machine.ts'

interface Recorded {
  name: keyof Workflows
  input: JsonObject
  /** Results of the finished steps, first to last. */
  steps: unknown[]
}

/** The database of an engine: the workflows that have not ended, by their ids. */
export type DurableWorkflows = Map<string, Recorded>

/**
 * Launches an engine in a process of the simulation. It resumes what others have left, and repeats
 * a step that has no recorded result.
 */
export function launchEngine(
  recorded: DurableWorkflows,
  workflows: Workflows,
  process: Process,
): Engine {
  const closed = new AbortController()
  let minutes: number | null = null
  const run = async (id: string, record: Recorded): Promise<void> => {
    await workflows[record.name](record.input, createDurable(record, process, closed.signal))
    recorded.delete(id)
  }
  const begin = (id: string, record: Recorded): void => {
    void run(id, record).catch((error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      process.world.violated('no workflow fails', text)
    })
  }
  const start = (name: keyof Workflows, id: string, input: JsonObject): Promise<void> =>
    process.step(1, `starts workflow ${id}`, () => {
      if (recorded.has(id)) return
      const record: Recorded = { name, input, steps: [] }
      recorded.set(id, record)
      begin(id, record)
    })
  const follow = async (): Promise<void> => {
    for (;;) {
      const every = (minutes ?? 1) * 60_000
      const dueMs = Math.ceil((process.world.time + 1) / every) * every
      await process.sleep(dueMs - process.world.time, closed.signal)
      if (closed.signal.aborted) return
      if (minutes !== null) await start('drift', `drift ${dueMs}`, {})
    }
  }
  for (const [id, record] of recorded) begin(id, record)
  void follow()
  return {
    start,
    listOpen: () => process.step(1, 'lists workflows', () => [...recorded.keys()]),
    schedule: async (cron) => {
      minutes = parseMinutes(cron)
    },
    close: async () => closed.abort(),
  }
}

function createDurable(record: Recorded, process: Process, closed: AbortSignal): Durable {
  let count = 0
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const index = count++
    if (index >= record.steps.length) {
      const result = await work()
      await process.step(1, `records step ${name}`, () => {
        // Another process may have run the same step meanwhile: the first result counts.
        record.steps[index] ??= result ?? null
      })
    }
    return record.steps[index] as T
  }
  return {
    step,
    sleep: async (ms) => {
      const dueMs = await step('due', async () => process.world.time + ms)
      await process.sleep(Math.max(0, dueMs - process.world.time), closed)
      // A closed engine runs no further step.
      if (closed.aborted) await new Promise<never>(() => undefined)
    },
  }
}

/** Parses the one kind of schedule that the simulation has: each so many minutes. */
function parseMinutes(cron: string | null): number | null {
  if (cron === null) return null
  const [, minutes] = /^\*\/(\d+) \* \* \* \*$/.exec(cron) ?? []
  if (minutes === undefined) throw new TypeError(`expected a schedule of minutes, got ${cron}`)
  return Number(minutes)
}
