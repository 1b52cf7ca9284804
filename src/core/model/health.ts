import type { Domain } from './item.ts'
import type { Counts, Grain, StatusClass } from './statistics.ts'

/** Health check of a wave. Times in seconds, `margin` in percentage points. */
export interface HealthRule {
  /** From the last confirmed write of the wave to the beginning of its window. */
  settle: number
  /** Delay of the counts of the service. */
  lag: number
  window: number
  grain: Grain
  /** Status codes that count as bad: `502`, `0`, or a class such as `5xx`. */
  statuses: string[]
  /** Minimum number of requests in a window; fewer are too little data. */
  minRequests: number
  /** Tolerated rise of the share of bad answers. */
  margin: number
}

/** [from, to), ms since 1970. */
export interface Window {
  from: number
  to: number
}

/** The windows that are compared, and the time from which the later one is complete. */
export interface HealthWindows {
  before: Window
  after: Window
  /** Time from which the counts of `after` are reliable, ms since 1970. */
  readyAt: number
}

/** Counts by domain; a domain without requests may be absent. */
export type DomainCounts = ReadonlyMap<Domain, Counts>

/**
 * Variation of the shares without a change: windows as long as the later one, from before the
 * change, and domains that did not change.
 */
export interface Variation {
  /** Requests of earlier windows by domain, latest first; of the wave and of the controls. */
  windows: ReadonlyMap<Domain, Sample[]>
  /** Counts of the controls in the later window. */
  controls: DomainCounts
}

/** Result of comparing the requests of a wave with its baseline. */
export type Verdict = 'same-or-better' | 'worse' | 'too-little-data'

/** All requests of a window, and the bad ones. */
export interface Sample {
  requests: number
  bad: number
}

/** Requests of a wave in a period, or in some neighbouring ones. */
export interface CurvePoint extends Sample, Record<StatusClass, number> {
  /** Start of the period, ms since 1970. */
  time: number
}

/** Requests of one domain, or of a whole wave, before and after the change. */
export interface Comparison {
  verdict: Verdict
  before: Sample
  after: Sample
  /** Rise of the share of bad answers, in percentage points; negative if it fell. */
  rise: number
  /**
   * One-sided p-value under no change, 0 to 1: of chance alone, or of the variation of the baseline
   * if that is larger. Null if nothing was tested.
   */
  pValue: number | null
}

/** Result of the health check of a wave. */
export interface WaveHealth {
  verdict: Verdict
  domains: Map<Domain, Comparison>
  /** All domains together, each compared with its own baseline. */
  whole: Comparison
  /** The share rose as it also does without a change: a longer window has to decide. */
  isUncertain: boolean
}
