import type { Change, Write } from './change.ts'
import type { Domain, FieldName, ItemKey, Value } from './item.ts'
import type { SourceTree } from './source-tree.ts'
import type { Impact } from './traffic.ts'

/**
 * Counts of a plan. `set`, `change`, `unset`, `release`, `unchanged`, `held` (on hold) and
 * `conditional` count items of domains.
 */
export interface PlanSummary {
  /** Domains with a change. */
  domains: number
  set: number
  change: number
  unset: number
  release: number
  unchanged: number
  held: number
  /** Conditional changes (`secret-unknown`); `change` includes them. */
  conditional: number
  writes: number
  /** No plan for these changes has fewer writes. */
  lowerBound: number
  /** Minimum time at the call rate: 60 × max(0, ⌈writes / callsPerMinute⌉ − 1). */
  seconds: number
  /** Minimum time with bursts, pauses and health checks, seconds. */
  totalSeconds: number
}

/** Planner of the writes: the same version makes the same writes of the same changes. */
export interface Planner {
  version: number
}

/** One wave of a plan. */
export interface PlanWave {
  wave: number
  domains: number
  writes: number
  /** Kinds of change that no earlier wave tries: an action on an item and the edited paths. */
  kinds: string[]
  /** Absent if the traffic of no domain is known. */
  traffic?: ForeseenWave
}

/** Traffic of a wave, and what its health check can detect. */
export interface ForeseenWave {
  /** Requests of a day. */
  requests: number
  /** Number of domains whose traffic is not known. */
  unknown: number
  /** Absent if no rise is detected, or without a health check that the figures fit. */
  detects?: DetectableRise
  /** Reason why none is detected. */
  undetected?: 'few-requests' | 'many-errors' | 'unknown-traffic'
}

/** Least rise of the share of bad answers on all domains of a wave that is detected. */
export interface DetectableRise {
  /** Percentage points. */
  rise: number
  /** Length of the window that it takes. */
  seconds: number
}

/** Hashes of the inputs of a plan: one for each domain that it affects. */
export interface PlanBasis extends SourceTree {
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  target: string[]
  /** Selected items; empty for all. */
  items: string[]
  /** Present if traffic determines the waves. */
  traffic?: TrafficBasis
}

/** Figures of traffic that waves rest on. */
export interface TrafficBasis {
  /** When the newest of them was queried, ISO 8601; 1970 without any. */
  at: string
  /** Of the figures that matter. */
  hash: string
}

/** Changes that are on hold for one reason. */
export interface OnHold {
  /** Id of the rollout or rollback that put them on hold, when (ISO 8601) and why. */
  rollout: string
  since: string | null
  reason: string
  changes: { domain: Domain; item: ItemKey }[]
  /** Number of changes, and the reason. */
  text: string
  domains: Domain[]
}

/** A field that an apply wrote and manifests dropped: it stays, since the service keeps it. */
export interface Stay {
  domain: Domain
  item: ItemKey
  field: FieldName
  value: Value
}

/** A change back to an older value, and the apply whose value it undoes. */
export interface OlderChange extends SourceTree {
  domain: Domain
  item: ItemKey
  apply: string
  /** ISO 8601. */
  startedAt: string
  author: string | null
}

/** An item that can't be rolled back, or not completely. */
export interface Irreversible {
  domain: Domain
  item: ItemKey
  /** Clause after the item's name, as in "https of www.example.com: …". */
  reason: string
}

/** Earliest times of a plan, seconds after its begin. */
export interface PlanTimes {
  /** One for each write, in the order of the writes. */
  writes: number[]
  waves: WaveTimes[]
  /** End of the last wait. */
  total: number
}

/** Earliest times of the first and the last write of a wave, seconds after the begin. */
export interface WaveTimes {
  wave: number
  from: number
  to: number
  /** Time of the health check and, before another wave, at least the pause, seconds. */
  waitSeconds: number
}

/** Changes, the ordered writes that apply them, and the hashes of their inputs. */
export interface Plan {
  changes: Change[]
  writes: Write[]
  summary: PlanSummary
  basis: PlanBasis
  planner: Planner
  /** Numbers of its waves that need approval; absent for none. */
  approvals?: number[]
  /** Numbers of the waves of a resumed rollout that still wait for approval; absent for none. */
  awaited?: number[]
  /** Traffic of the domains that it writes; absent for plans that no traffic limits. */
  impact?: Impact
  /** Sentences to read before applying. */
  warnings: string[]
  /** Sentences about its writes, shown with -v only; absent for none. */
  details?: string[]
  /** Whether it goes back to values that were confirmed and healthy, at once; absent for no. */
  reverts?: true
  /** The waves in order; absent if the plan has a single one. */
  waves?: PlanWave[]
  /**
   * References of the secrets in the changes that have a recorded fingerprint, by fingerprint: a
   * name, or a template around names. Never written to a plan file.
   */
  references?: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Readonly<Record<string, string>>>>
  /** Changes that it does not contain, since a rollout was stopped. Absent for none. */
  onHold?: OnHold[]
  /** Fields that an apply gives up; absent for none. */
  stays?: Stay[]
  /** Changes that go back to older values; absent for none, and before they were looked for. */
  older?: OlderChange[]
  /** Changes that can't be rolled back; in no JSON. Absent for none. */
  irreversible?: Irreversible[]
  /**
   * The plan without its conditional changes: what is sent if no secret differs. In no JSON. Absent
   * if there are none.
   */
  definite?: Plan
}

/** Selects what a plan does for certain: all of it unless it has conditional changes. */
export function selectDefinite(plan: Plan): Plan {
  return plan.definite ?? plan
}
