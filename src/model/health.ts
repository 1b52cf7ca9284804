import type { Domain } from './item.ts'
import type { Counts, Grain } from './statistics.ts'

/** When a wave counts as healthy. Times in seconds, `margin` in percent points. */
export interface HealthRule {
  /** From the wave's last confirmed write to the beginning of what is looked at. */
  settle: number
  /** How late the service's counts are. */
  lag: number
  window: number
  grain: Grain
  /** Status codes that count as bad: `502`, `0`, or a class such as `5xx`. */
  statuses: string[]
  /** Fewer requests in a window are too little data. */
  minRequests: number
  /** By how much the share of bad answers may rise. */
  margin: number
}

/** [from, to), ms since 1970. */
export interface Window {
  from: number
  to: number
}

/** The times that are compared, and when the later one is known. */
export interface HealthWindows {
  before: Window
  after: Window
  /** From then on the counts of `after` may be relied on, ms since 1970. */
  readyAt: number
}

/** Counts by domain; one without requests may be absent. */
export type DomainCounts = ReadonlyMap<Domain, Counts>

/** How a wave's requests compare with the time before it. */
export type Verdict = 'same-or-better' | 'worse' | 'too-little-data'

/** Why there is too little data; null where there is enough. */
export type DataShortage =
  | 'no requests'
  | 'no requests before'
  | 'no requests after'
  | 'few requests'
  | null

/** All requests of a window, and those that ended badly. */
export interface Sample {
  requests: number
  bad: number
}

/** How one domain, or a wave as a whole, did before and after. */
export interface Comparison {
  verdict: Verdict
  before: Sample
  after: Sample
  /** By how much the share of bad answers rose, in percent points; below 0 where it fell. */
  rise: number
  /**
   * How likely at least such a rise is where nothing has changed, 0 to 1; null where nothing was
   * tested.
   */
  pValue: number | null
  shortage: DataShortage
}

/** What became of a wave. */
export interface WaveHealth {
  verdict: Verdict
  domains: Map<Domain, Comparison>
  /** All domains together, each compared with itself. */
  whole: Comparison
}
