import type { JsonObject } from '../model/json.ts'

/**
 * Work that survives the end of its process: a successor repeats it from its last finished step. So
 * it must do everything with an effect in steps, and a step that has begun may run again.
 */
export type Workflow = (input: JsonObject, durable: Durable) => Promise<void>

/** What a workflow may use. */
export interface Durable {
  /** Runs a step, and records its result. After a restart, a finished step is not run again. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Sleeps for some time, ms, also while no process runs. */
  sleep(ms: number): Promise<void>
}

/** The workflows of a controller, by their names. */
export interface Workflows {
  rollout: Workflow
  /** Begun by the schedule. */
  drift: Workflow
}

/** Engine that runs durable workflows, in the process of the leader only. */
export interface Engine {
  /** Starts a workflow, unless there was one with this id. */
  start(name: keyof Workflows, id: string, input: JsonObject): Promise<void>
  /** Lists the ids of the workflows that have not ended. */
  listOpen(): Promise<string[]>
  /**
   * Runs the drift workflow at the times of a cron expression from now on; null: never.
   *
   * @throws EdgewiseError `invalid` if the expression has no meaning
   */
  schedule(cron: string | null): Promise<void>
  /** Ends without waiting for workflows: a successor resumes them. */
  close(): Promise<void>
}
