import type { Diagnostic } from '../model/problem.ts'
import type { PolicyException } from './exception.ts'
import type { Violation } from './policy.ts'
import type { Level, Subject } from './subject.ts'

/** How an exception counts: it does, not yet, no more, or for no policy. */
export type ExceptionState = 'counts' | 'waiting' | 'expired' | 'unknown'

/** An exception, with what it excepted. */
export interface ListedException extends PolicyException {
  file: string
  line: number
  column: number
  state: ExceptionState
  daysLeft: number
  /** Number of violations that it excepted. */
  used: number
}

/** A policy, with the numbers of what it judged. */
export interface ListedPolicy {
  name: string
  level: Level
  on: Subject
  file: string
  line: number
  column: number
  /** Domains, changes, writes, plans or requests that it judged: those that `when` selects. */
  judged: number
  /** Violations without an exception that counts, and those with one. */
  violations: number
  excepted: number
}

/** Violations of a policy at one place, without an exception that counts. */
export interface ViolationGroup {
  policy: string
  level: Level
  on: Subject
  violations: Violation[]
  diagnostic: Diagnostic
}

/** What the policies of a workspace found. */
export interface PolicyReport {
  policies: ListedPolicy[]
  exceptions: ListedException[]
  /** In the order of their places. */
  groups: ViolationGroup[]
  /** What is wrong with exceptions. */
  problems: Diagnostic[]
}
