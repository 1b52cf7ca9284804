import type { Action, FormName } from '../change.ts'
import type { LogEntry } from '../applied.ts'
import type { PageEffects, PageSides } from './page-effects.ts'
import type { PageRollback, PageWave } from './page-rollout.ts'

/**
 * Content of the page of a plan, an apply or drift. It is JSON; every text in it may come from
 * anybody, and none has a secret. Numbers of domains, items, parts and writes are positions in the
 * lists of the page, from 0.
 */
export interface Page {
  format: 'edgewise.page/1'
  title: string
  /** The summary in a sentence: the first thing to read. */
  sentence: string
  /** Small facts such as the workspace and the commit. */
  facts: [label: string, value: string][]
  /** Domains with a change; those of one write are neighbours as far as possible. */
  domains: string[]
  items: string[]
  /** Parts that change, shared by all changes that look the same. */
  parts: PagePart[]
  changes: PageChange[]
  writes: PageWrite[]
  waves: PageWave[]
  /** Rollback of an apply by a health check; absent if there was none. */
  rollback?: PageRollback
  callsPerMinute: number
  /** Notices of things that will not happen, or need somebody. */
  notices: PageNotice[]
  warnings: string[]
  /** The applies of a history, the latest first. They take the place of the writes. */
  applies?: PageApply[]
  /** What people did beside them, the latest first. */
  acts?: LogEntry[]
  /** What a plan does to sample requests; absent unless asked for. */
  effects?: PageEffects
  /** In what other requests are tried; only of a plan with `effects`. */
  sides?: PageSides
}

/** What every page has above its content. */
export type PageHead = Pick<Page, 'title' | 'sentence' | 'facts' | 'warnings' | 'notices'>

/** Change of an item. */
export interface PagePart {
  item: number
  action: Action
  /** Remark, such as that it is written again; empty for none. */
  note: string
  isDestructive: boolean
  /** Kinds of drift, as the sentence counts them; absent elsewhere. */
  kinds?: string[] | undefined
  /** Before and after, line by line. */
  lines: PageLine[]
}

/** A line of a value; `action` null for one that stays. */
export interface PageLine {
  action: Action | null
  indent: number
  text: string
  /** Whether it is a heading or a remark instead of a value. */
  isRemark: boolean
}

/** A change of an item of a domain: a cell of the matrix. */
export interface PageChange {
  domain: number
  part: number
  /** Writes that make it, in order; none if it is released or cleared. Of a history: its apply. */
  writes: number[]
  /** `FILE:LINE` of the manifest that asks for it; null if none does. */
  place: string | null
  /** Its end or difference, such as `refused` or `in-doubt`; null in a plan. */
  state: string | null
}

/** A call of the service: a rectangle of the matrix. */
export interface PageWrite {
  /** Number in the plan, from 1. */
  id: number
  wave: number
  domains: number[]
  items: { item: number; form: FormName }[]
  /** Earliest time after the begin, seconds. */
  seconds: number
}

/** Titles of what will not happen. */
export const noticeKinds = {
  released: 'Released',
  cleared: 'Cleared by another write',
  'on-hold': 'On hold',
  unmanaged: 'Not managed',
  'no-way-back': 'No rollback',
  conditional: 'Only if it differs',
  ignored: 'Ignored drift',
} as const

/** Something that will not happen. */
export interface PageNotice {
  kind: keyof typeof noticeKinds
  text: string
  /** Domains, as far as they are known. */
  domains: string[]
}

/** An apply in the page of a history. */
export interface PageApply {
  id: string
  /**
   * Its rollout, the number of its wave, and the command that rolls all of several waves back; null
   * for an apply that is no wave.
   */
  rollout: { id: string; wave: number; rollback: string | null } | null
  outcome: string
  /** ISO 8601, as recorded. */
  startedAt: string
  /** Its duration, or why that is not known. */
  took: string
  author: string | null
  /** On what it rests, such as `rollback` or `reason: …`; empty for nothing more. */
  grounds: string
  /** `commit 1a2b3c4d5e6f`, or what was not committed. */
  tree: string | null
  /** Writes, and their parts, by outcome, such as `4 confirmed, 1 refused`. */
  writes: string
  parts: string
  /** Command that rolls it back; null if nothing does. */
  rollback: string | null
  /** Why it can't be rolled back, or what of it is not in the page; empty for nothing. */
  note: string
  /** Whether what it changed is in the page. */
  hasChanges: boolean
}
