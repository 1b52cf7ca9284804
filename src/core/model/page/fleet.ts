import { formatCount, formatNoun } from './page-words.ts'

/** States of an item or a domain, the most urgent first; `recorded`: as recorded. */
export const fleetStates = [
  'in-doubt',
  'drifted',
  'refused',
  'on-hold',
  'pending',
  'recorded',
] as const
export type FleetState = (typeof fleetStates)[number]

/** How much a state matters. */
export type Tone = 'problem' | 'attention' | 'fine'

/** Words and tone of each state. */
export const stateLooks: Record<FleetState, { words: string; tone: Tone }> = {
  'in-doubt': { words: 'in-doubt', tone: 'problem' },
  drifted: { words: 'drifted', tone: 'problem' },
  refused: { words: 'refused', tone: 'problem' },
  'on-hold': { words: 'on hold', tone: 'attention' },
  pending: { words: 'pending', tone: 'attention' },
  recorded: { words: 'as recorded', tone: 'fine' },
}

/** A domain in the list of a fleet. It is JSON; a count that is 0 is absent. */
export interface FleetRow {
  domain: string
  /** The most urgent state of its items. */
  state: FleetState
  items: number
  /** Numbers of its items in each state. */
  pending?: number
  refused?: number
  drifted?: number
  onHold?: number
  inDoubt?: number
  /** Time of the oldest confirmation of an item, ISO 8601; absent if none is recorded. */
  confirmedAt?: string
  /** Requests a day; absent if unknown. */
  requests?: number
  /** Its owners, as text; absent for none. */
  owners?: string
  /** Name of its page; absent: that of the domain. */
  page?: string
}

/** The list of a fleet, for the script of its page. */
export interface Fleet {
  /** What stands before and after the name of a page in its address. */
  address: [before: string, after: string]
  rows: FleetRow[]
}

/** Builds the address of the page of a domain. */
export function buildAddress({ address: [before, after] }: Fleet, row: FleetRow): string {
  return before + encodeURIComponent(row.page ?? row.domain) + after
}

/** Columns of the list beside the name and the state: the key, the title, and a short one. */
const columns = [
  ['items', 'Items', 'items'],
  ['pending', 'Pending', 'pending'],
  ['refused', 'Refused', 'refused'],
  ['drifted', 'Drift', 'drift'],
  ['onHold', 'On hold', 'on hold'],
  ['inDoubt', 'In-doubt', 'in-doubt'],
  ['confirmedAt', 'Oldest confirmation', 'oldest'],
  ['requests', 'Requests a day', 'requests'],
  ['owners', 'Owners', 'owners'],
] as const satisfies [keyof FleetRow, string, string][]
export type FleetColumn = (typeof columns)[number]

/** Columns that are shown only if a row has something there. */
const optional: readonly string[] = ['refused', 'requests', 'owners']

/** Lists the columns in which a row has a figure. */
export function listColumns(rows: readonly FleetRow[]): FleetColumn[] {
  return columns.filter(
    ([key]) => !optional.includes(key) || rows.some((row) => row[key] !== undefined),
  )
}

/** Formats a cell of the list; empty for none. */
export function formatCell(row: FleetRow, [key]: FleetColumn): string {
  const value = row[key] ?? ''
  return typeof value === 'number'
    ? formatCount(value)
    : value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, '$1 $2')
}

/** Finds the most urgent of some states. */
export function findState(states: readonly FleetState[]): FleetState {
  return fleetStates.find((state) => states.includes(state)) ?? 'recorded'
}

/** Describes in a sentence how many are in each state: `2 of 3 items as recorded; 1 pending.` */
export function summarizeStates(states: readonly FleetState[], noun: string): string {
  const count = (state: FleetState) => states.filter((each) => each === state).length
  const all = formatNoun(states.length, noun)
  if (states.length === 0) return `No ${noun}s.`
  const others = fleetStates.flatMap((state) =>
    state === 'recorded' || count(state) === 0
      ? []
      : [`${formatCount(count(state))} ${stateLooks[state].words}`],
  )
  const recorded = stateLooks.recorded.words
  return others.length === 0
    ? `${all} ${recorded}.`
    : `${formatCount(count('recorded'))} of ${all} ${recorded}; ${others.join('; ')}.`
}
