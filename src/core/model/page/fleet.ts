/** States of an item or a domain, the most urgent first; `recorded`: as recorded. */
export const fleetStates = ['in-doubt', 'drifted', 'on-hold', 'pending', 'recorded'] as const
export type FleetState = (typeof fleetStates)[number]

/** How much a state matters. */
export type Tone = 'problem' | 'attention' | 'fine'

/** Words and tone of each state. */
export const stateLooks: Record<FleetState, { words: string; tone: Tone }> = {
  'in-doubt': { words: 'in-doubt', tone: 'problem' },
  drifted: { words: 'drifted', tone: 'problem' },
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
  drifted?: number
  onHold?: number
  inDoubt?: number
  /** Time of the oldest confirmation of an item, ISO 8601; absent if none is recorded. */
  confirmedAt?: string
  /** Requests a day; absent if unknown. */
  requests?: number
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

/** Finds the most urgent of some states. */
export function findState(states: readonly FleetState[]): FleetState {
  return fleetStates.find((state) => states.includes(state)) ?? 'recorded'
}

/** Says in a sentence how many are in each state: `2 of 3 items as recorded; 1 pending.` */
export function summarizeStates(states: readonly FleetState[], noun: string): string {
  const count = (state: FleetState) => states.filter((each) => each === state).length
  const format = (number: number) => number.toLocaleString('en-US')
  const all = `${format(states.length)} ${noun}${states.length === 1 ? '' : 's'}`
  if (states.length === 0) return `No ${noun}s.`
  const others = fleetStates.flatMap((state) =>
    state === 'recorded' || count(state) === 0
      ? []
      : [`${format(count(state))} ${stateLooks[state].words}`],
  )
  const recorded = stateLooks.recorded.words
  return others.length === 0
    ? `${all} ${recorded}.`
    : `${format(count('recorded'))} of ${all} ${recorded}; ${others.join('; ')}.`
}
