import { isCall } from '../../generated/state-validators.ts'
import type { CallsFile } from '../../generated/state-types.ts'
import { isObject, type Json } from '../../model/json.ts'

const minute = 60_000
const mostSkew = 5 * minute

/** When calls of the service ended, or may end at the latest. */
export interface Call {
  /** By the wall clock, ms since 1970. */
  at: number
  /** The machine's boot, and its time since then, ms: nobody sets that clock. */
  boot: string
  up: number
  /** Number of these calls; 1 if absent. */
  count?: number
}

/** Calls by the time since the machine's boot at which they ended, ms. */
export interface CallsAtUptime {
  time: number
  count: number
}

/** The clocks of the machine that asks. */
export interface MachineTimes {
  boot: string
  /** Wall clock, ms since 1970. */
  now: number
  /** Since the machine's boot, ms. */
  up: number
}

/**
 * When calls count as made, by the own machine's clock since its boot, ascending. Another machine's
 * clock may be wrong: what it says of the five minutes around now counts as now.
 */
export function toUptimes(calls: Call[], here: MachineTimes): CallsAtUptime[] {
  return calls
    .flatMap(({ at, boot, up, count = 1 }) => {
      if (boot !== '' && boot === here.boot) return [{ time: up, count }]
      return at > here.now - mostSkew ? [{ time: here.up, count }] : []
    })
    .filter(({ time }) => time > here.up - minute)
    .toSorted((a, b) => a.time - b.time)
}

/** Times since the machine's boot as calls that any machine can read. */
export function buildCalls(calls: CallsAtUptime[], here: MachineTimes): Call[] {
  return calls.map(({ time: up, count }) => ({
    at: Math.ceil(here.now + up - here.up),
    boot: here.boot,
    up,
    ...(count === 1 ? {} : { count }),
  }))
}

/**
 * Merges the calls known to this machine with those known to others. Calls of the same time that
 * both know count once.
 */
export function mergeCalls(own: Call[], others: Call[]): Call[] {
  const known = new Map<string, Call>()
  for (const call of own) addCall(known, call, sumCounts)
  const elsewhere = new Map<string, Call>()
  for (const call of others) addCall(elsewhere, call, sumCounts)
  for (const call of elsewhere.values()) addCall(known, call, Math.max)
  return [...known.values()]
}

function addCall(calls: Map<string, Call>, call: Call, join: (a: number, b: number) => number) {
  const key = `${call.boot} ${call.up} ${call.at}`
  const present = calls.get(key)
  const count = present === undefined ? call.count : join(present.count ?? 1, call.count ?? 1)
  calls.set(key, count === undefined || count === 1 ? call : { ...call, count })
}

const sumCounts = (a: number, b: number) => a + b

/**
 * Parses the calls of an account; what can't be read counts as none: the service's own headers
 * still hold.
 */
export function parseCalls(data: Json | undefined): { apply: string; calls: Call[] } {
  if (data === undefined || !isObject(data)) return { apply: '', calls: [] }
  const { apply } = data
  const calls: unknown[] = Array.isArray(data['calls']) ? data['calls'] : []
  return {
    apply: typeof apply === 'string' ? apply : '',
    calls: calls.filter((call) => isCall(call)),
  }
}

/** The text of an account's calls. */
export function formatCalls(apply: string, calls: Call[]): string {
  const file: CallsFile = { format: 'edgewise.budget/2', apply, calls }
  return `${JSON.stringify(file)}\n`
}
