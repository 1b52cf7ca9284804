import type { ListedState } from '../listed-rollout.ts'
import type { Sample } from '../health.ts'
import type { Rollout } from '../rollout.ts'

/** Parts of a rollout that pages draw, and of the waves of a plan or an apply. */
export interface PageRollout {
  /** Facts about a rollout in a server; null in the page of a plan or an apply. */
  about: RolloutAbout | null
  /** Those that need attention first. */
  waves: PageWave[]
  /** Null without a rollback. */
  rollback: PageRollback | null
}

/** Rollback by a health check. */
export interface PageRollback {
  reason: string
  /** Absent if that is not known. */
  writes?: number
}

/** A rollout in a server, and what may be decided about it. */
export interface RolloutAbout {
  id: string
  state: ListedState | Rollout['state']
  /** Number of the current wave, and of all; null for an ended rollout. */
  progress: { wave: number; waves: number } | null
  facts: RolloutFact[]
  /** The next step for the reader; empty for none. */
  note: string
  /** Command that does it; empty for none. */
  command: string
  /** The step that the reader decides about: a decision carries the step that was shown. */
  step: string
  decisions: { verb: 'approve' | 'resume' | 'pause'; label: string }[]
  canAbort: boolean
  /** Domains on hold. */
  onHold: string[]
}

/** A fact; `time`: an instant, ISO 8601. */
/** A null text leaves it out. */
export type RolloutFact = [label: string, text: string | null, isTime?: true]

/** A wave. Every text may come from anybody. */
export interface PageWave {
  wave: number
  /** Number of its domains; null if that is not known. */
  domains: number | null
  /** When it is written at the earliest; null if that is not planned here. */
  times: WaveTimes | null
  /** `needs approval`, or who has approved it; null for neither. */
  approval: string | null
  /** Its outcome; null in a plan. */
  health: WaveHealth | null
  /** Names of its domains, where the page does not have them elsewhere. */
  names: string[]
}

interface WaveTimes {
  writes: number
  /** Earliest times after the begin, seconds: of the first and last write. */
  from: number
  to: number
  /** Time for the health check and the pause after it, seconds. */
  waitSeconds: number
}

/**
 * The symbol and the words of each outcome of a wave, and where such waves are shown. `unchecked`:
 * written without a health check; `running`: its health check has not ended; `waiting`: for a
 * baseline or an approval; `next`: it may begin.
 */
export const waveStates = {
  worse: ['✕', 'worse', 0],
  running: ['…', 'pause or health check not finished', 1],
  unclear: ['?', 'unclear', 2],
  waiting: ['…', 'waiting', 3],
  begun: ['–', 'not completely written', 3],
  next: ['…', 'next', 3],
  healthy: ['✓', 'healthy', 4],
  unchecked: ['–', 'written without a health check', 4],
  'not-begun': ['–', 'not begun', 5],
} as const satisfies Record<string, [symbol: string, words: string, rank: number]>
export type WaveState = keyof typeof waveStates

/** The health of a wave. */
export interface WaveHealth {
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

/** Requests over time, with marks, as pages draw them. */
export interface PageSeries extends Pick<PageCurve, 'statuses' | 'seconds' | 'points'> {
  /** Times of the drawing. */
  span: PageSpan
  /** What happened, first to last. */
  marks: { span: PageSpan; words: string }[]
  /** Usual share of bad answers, percent; null without one. */
  level: number | null
  /** The drawing in words. */
  about: string
  /** Head of the column that describes each period. */
  column: string
  /** Describes the period that starts at a time. */
  describe(time: number): string
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
