import type { Sample } from './health.ts'

/** What a page shows of a rollout: its waves, those that need attention first. */
export interface PageRollout {
  waves: PageWaveHealth[]
  /** Null without a rollback. */
  rollback: { reason: string; writes: number } | null
}

/**
 * What became of a wave. `unchecked`: written without a health check; `unseen`: written, and
 * whether it was checked is not known; `running`: its health check has not ended; `waiting`:
 * for a baseline or an approval.
 */
export type WaveState =
  | 'worse'
  | 'running'
  | 'unclear'
  | 'waiting'
  | 'begun'
  | 'healthy'
  | 'unchecked'
  | 'unseen'
  | 'not-begun'

/** The health of a wave. Every text may come from anybody. */
export interface PageWaveHealth {
  wave: number
  state: WaveState
  /** Finding of the health check, or what the wave waits for; null if there is no more to say. */
  reason: string | null
  /** Shares before and after in a sentence; null without figures. */
  figures: string | null
  /** The rule in a sentence; null without a verdict. */
  rule: string | null
  /** Number of verdicts; the last one counts. */
  checks: number
  /** Domains that are worse than their own baseline. */
  worse: { domain: string; before: Sample; after: Sample }[]
  curve: PageCurve | null
}

/** [from, to), seconds since 1970. */
export type PageSpan = [from: number, to: number]

/** Requests of a wave over time. */
export interface PageCurve {
  /** Status codes that count as bad, such as `5xx, 0`. */
  statuses: string
  written: PageSpan
  before: PageSpan
  after: PageSpan
  /** Length of a point, seconds. */
  seconds: number
  /** Sums of the window before. */
  baseline: Sample
  points: PagePoint[]
}

/** A period: its start in seconds since 1970, then its requests. */
export type PagePoint = [
  time: number,
  requests: number,
  bad: number,
  success: number,
  redirect: number,
  clientError: number,
  serverError: number,
  other: number,
]
