import type { Json } from '../json.ts'

/** What a plan does to requests. */
export interface PageEffects {
  /** How many requests change: `60 requests traced · …`; empty if none were traced. */
  counts: string
  /** How more answers become known; empty for nothing. */
  hint: string
  groups: PageEffectGroup[]
  /** Number of groups that are left out. */
  left: number
  /** Requests that show what each kind of change does; empty unless they were looked for. */
  witnesses: PageWitness[]
}

/** What a kind of change does to a request. */
export interface PageWitness {
  item: string
  domains: string[]
  /** The request and an answer before and after; or that there is none, and why. */
  lines: string[]
}

/** Requests that a plan changes in the same way. */
export interface PageEffectGroup {
  /** Who notices: a visitor, or perhaps one who gets older or other content. */
  class: 'visible' | 'content'
  count: number
  /** Answers that name the group. */
  answers: PageAnswer[]
  /** Answers that change with them. */
  others: PageAnswer[]
  domains: string[]
  items: string[]
  /** URLs of some of the requests. */
  examples: string[]
}

/** An answer before and after, in words; equal if it is unknown for the same reasons. */
export interface PageAnswer {
  /** Stage and name: `cache.key`. */
  field: string
  before: string
  after: string
}

/** The configuration of changed domains before and after, in which requests are tried. */
export interface PageSides {
  /** Lists of candidates of items, each once. */
  candidates: Json[][]
  /** Configurations, each once: positions in `candidates` by item. */
  configurations: Record<string, number>[]
  /** Positions in `configurations`. */
  domains: [domain: string, before: number, after: number][]
  /** Number of changed domains that are left out. */
  left: number
  /** Other domains below a `.d` of `domains`; their hosts do not belong to it. */
  others: string[]
  /** Answers of readings by number; null for an open one. */
  answers: Json[]
  unmanaged: 'unknown' | 'absent' | readonly string[]
  timezone: string
}
