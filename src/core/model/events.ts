import type { Refusals } from './generated/state-types.ts'
import type { Sample } from './health.ts'
import type { Verified } from './drift.ts'
import type { ItemKey, Part } from './item.ts'
import type { OutcomeCounts } from './outcome.ts'
import type { Judged } from './rollout.ts'

/** In-doubt write, or the in-doubt rest of one, and the reason. */
export interface Doubt extends Part {
  message: string
}

/** Part of a write that the service refused. */
export type Refusal = Refusals[number]

/** Event of an apply, with its time (ISO 8601). */
export type ApplyEvent = { time: string } & UntimedEvent

/** Events of an apply, in the order in which they occur. */
export type UntimedEvent =
  | { type: 'apply.started'; apply: string; writes: number; releases: number; waves?: number }
  | ({ type: 'write.started'; id: number } & Part)
  | { type: 'write.confirmed'; id: number; rewritten?: ItemKey[] }
  | { type: 'write.refused'; id: number; code: number | null; message: string }
  | ({ type: 'write.in-doubt'; id: number } & Doubt)
  | {
      type: 'write.not-sent'
      id: number
      message: string
      /** Absent for any other reason, which only the message has. */
      reason?: NotSentReason
    }
  | { type: 'write.waiting'; id: number; seconds: number; message: string }
  | ({ type: 'write.isolating'; id: number } & Part)
  | ({ type: 'part.confirmed'; id: number } & Part)
  | ({
      type: 'part.refused'
      id: number
      /** Place in a manifest of the first item of the first domain; null if there is none. */
      file: string | null
      line: number | null
    } & Refusal)
  | ({ type: 'part.not-sent'; id: number } & Doubt)
  | { type: 'wave.finished'; wave: number }
  | {
      type: 'wave.waiting'
      wave: number
      waves: number
      domains: number
      until: string
      reason: 'pause' | 'health' | 'baseline'
    }
  | {
      type: 'wave.watched'
      wave: number
      statuses: string[]
      before: Sample
      after: Sample
    }
  | Judged
  | {
      type: 'rollout.waiting-for-approval'
      apply: string
      /** The wave that does not begin, and its number of domains. */
      wave: number
      waves: number
      domains: number
      reason: 'approval' | 'paused'
      /** Command that approves the wave, or resumes the paused rollout. */
      command: string
    }
  | { type: 'rollout.taking-back'; apply: string; reason: string; writes: number }
  | ({ type: 'apply.verified' } & Verified)
  | ({
      type: 'apply.finished'
      apply: string
      stopped: string | null
      interrupted?: Interrupted
      takenBack?: boolean
      /** Present if a rollout stays open: what it has not sent may still be sent. */
      open?: true
      /** Parts of the writes: domains × items. */
      parts: OutcomeCounts
      /** Writes not sent because nothing differs; in none of the other counts. Absent for 0. */
      unchanged?: number
      /** Hash of the newest entry of the chained history; absent if none was added. */
      history?: string | undefined
    } & OutcomeCounts)

/**
 * Kind of a reason why a write was not sent. `unchanged`: it was not needed, its secrets have their
 * recorded values. `interrupted`: an interrupt. `left-out`: an earlier write has shown that the
 * service does not know its domains.
 */
export type NotSentReason = 'unchanged' | 'interrupted' | 'left-out'

/** Where an interrupt ended an apply: at its writes, or between the waves of a rollout. */
export type Interrupted = 'writes' | 'rollout'

/** Statistics behind the verdict of a wave, over time. */
export type WaveStatistics = Judged['statistics']

/** Names of the long phases of an operation. */
export type PhaseName =
  | 'listing-files'
  | 'loading-files'
  | 'checking-manifests'
  | 'loading-import'
  | 'loading-observed'
  | 'reading-service'
  | 'preparing-manifests'
  | 'locking'
  | 'loading-state'
  | 'comparing'
  | 'planning'
  | 'testing'
  | 'mutating'
  | 'preparing-writes'
  | 'formatting-files'
  | 'writing-files'
  | 'saving-state'
  | 'pruning'

/** Phase of an operation at the moment. */
export interface Phase {
  name: PhaseName
  /** Finished parts; absent if they are not counted. */
  done?: number
  /** All parts: files, kB, manifests, domains, writes, applies or steps; absent if unknown. */
  total?: number
}
