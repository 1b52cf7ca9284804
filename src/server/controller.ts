import type { ServerMetrics } from '../metrics/server-metrics.ts'
import type { Json } from '../model/json.ts'
import type { Decided, ListedRollout } from '../model/listed-rollout.ts'
import type { PageSource } from './pages/page-source.ts'

/** What may be decided about a rollout over HTTP. */
export const decisions = ['approve', 'abort', 'pause'] as const
export type DecisionName = (typeof decisions)[number]

/** The controller behind the HTTP server. Failures are EdgewiseErrors; others are defects. */
export interface Controller {
  metrics: ServerMetrics
  /** Describes the controller, the branch and the last apply. */
  status(): Promise<Json>
  /** Returns the plan of the fetched commit, as JSON; at most a minute old. */
  plan(): Promise<string>
  /** Lists the unfinished rollouts, first to last. */
  listRollouts(): Promise<ListedRollout[]>
  /**
   * Decides about a rollout; null if none is recorded under this id.
   *
   * @param step that somebody saw before the decision; absent: the current one
   * @throws EdgewiseError `usage` when it can't be decided now, `locked`, `unavailable`
   */
  decide(verb: DecisionName, id: string, step?: string): Promise<Decided | null>
  /** What the pages show. */
  pages: PageSource
  /** Fetches the branch soon; never throws, and several calls are one fetch. */
  poke(): void
  /** Returns null while the process works, otherwise the reason; without names of domains. */
  isHealthy(): string | null
  /** Returns null if the replica can serve, otherwise the reason; without names of domains. */
  findUnready(): Promise<string | null>
}
