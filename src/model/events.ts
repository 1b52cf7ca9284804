import type { CurvePoint, Sample, Verdict } from './health.ts'
import type { Domain, ItemKey } from './item.ts'
import type { OutcomeCounts } from './outcome.ts'

/** In-doubt write, or the in-doubt rest of one, and the reason. */
export interface Doubt {
  domains: Domain[]
  items: ItemKey[]
  message: string
}

/** Events of an apply, in the order in which they occur. Times are ISO 8601. */
export type ApplyEvent =
  | {
      type: 'apply.started'
      time: string
      apply: string
      writes: number
      releases: number
      waves?: number
    }
  | { type: 'write.started'; time: string; id: number; domains: Domain[]; items: ItemKey[] }
  | { type: 'write.confirmed'; time: string; id: number; rewritten?: ItemKey[] }
  | { type: 'write.refused'; time: string; id: number; code: number | null; message: string }
  | {
      type: 'write.in-doubt'
      time: string
      id: number
      domains: Domain[]
      items: ItemKey[]
      message: string
    }
  | {
      type: 'write.not-sent'
      time: string
      id: number
      message: string
      /** Present if the write was not needed: its secrets have their recorded values. */
      reason?: 'unchanged'
    }
  | { type: 'write.waiting'; time: string; id: number; seconds: number; message: string }
  | { type: 'write.isolating'; time: string; id: number; domains: Domain[]; items: ItemKey[] }
  | { type: 'part.confirmed'; time: string; id: number; domains: Domain[]; items: ItemKey[] }
  | {
      type: 'part.refused'
      time: string
      id: number
      domains: Domain[]
      items: ItemKey[]
      /** Place in a manifest of the first item of the first domain; null if there is none. */
      file: string | null
      line: number | null
      code: number | null
      message: string
    }
  | {
      type: 'part.not-sent'
      time: string
      id: number
      domains: Domain[]
      items: ItemKey[]
      message: string
    }
  | { type: 'wave.finished'; time: string; wave: number }
  | {
      type: 'wave.waiting'
      time: string
      wave: number
      waves: number
      domains: number
      until: string
      reason: 'pause' | 'health' | 'baseline'
    }
  | {
      type: 'wave.watched'
      time: string
      wave: number
      statuses: string[]
      before: Sample
      after: Sample
    }
  | {
      type: 'wave.judged'
      time: string
      wave: number
      verdict: Verdict
      /** Null if the wave is healthy. */
      reason: string | null
      before: Sample
      after: Sample
      /** Domains that are worse than their own baseline. */
      worse: { domain: Domain; before: Sample; after: Sample }[]
      statistics: WaveStatistics
    }
  | {
      type: 'rollout.waiting-for-approval'
      time: string
      apply: string
      /** The wave that does not begin, and its number of domains. */
      wave: number
      waves: number
      domains: number
      reason: 'approval' | 'paused'
      /** Command that approves the wave, or resumes the paused rollout. */
      command: string
    }
  | { type: 'rollout.taking-back'; time: string; apply: string; reason: string; writes: number }
  | {
      type: 'apply.verified'
      time: string
      /** Number of items that the service has as they were sent. */
      same: number
      /** Items that it has otherwise. */
      differs: { domain: Domain; item: ItemKey }[]
      /** Number of items that it did not return, or that can't be compared. */
      unknown: number
      /** Why nothing could be read; null if it was. */
      failure: string | null
    }
  | ({
      type: 'apply.finished'
      time: string
      apply: string
      stopped: string | null
      takenBack?: boolean
      /** Present if a rollout stays open: what it has not sent may still be sent. */
      open?: true
      /** Parts of the writes: domains × items. */
      parts: OutcomeCounts
      /** Writes not sent because nothing differs; in none of the other counts. Absent for 0. */
      unchanged?: number
    } & OutcomeCounts)

/** Times in ISO 8601; the end of a span is not part of it. */
interface Span {
  from: string
  to: string
}

/** What the verdict of a wave rests on, over time. */
export interface WaveStatistics {
  /** Status codes that count as bad, the tolerated rise in percentage points, and the minimum. */
  statuses: string[]
  margin: number
  minRequests: number
  /** When the wave was written, by the clock of the check. */
  written: Span
  /** The windows that were compared. */
  before: Span
  after: Span
  /** Length of a point, seconds; a day with a clock change is longer or shorter. */
  seconds: number
  /** Requests of all domains of the wave in both windows, ascending; none between them. */
  points: (Omit<CurvePoint, 'time'> & { time: string })[]
}
