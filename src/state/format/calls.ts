import { isCall } from '../../generated/state-validators.ts'
import type { CallsFile } from '../../generated/state-types.ts'
import { isObject, type Json } from '../../model/json.ts'

const minute = 60_000
/** Assumed maximum difference between two machines' clocks, ms. */
const maxClockSkew = 5 * minute

/** End of calls to the service, or their latest possible end. */
export interface Call {
  /** Wall clock, ms since 1970. */
  at: number
  /** Identifies the machine's boot; empty if unknown. */
  boot: string
  /** Time since that boot, ms: a clock that is never set. */
  up: number
  /** Number of these calls; 1 if absent. */
  count?: number
}

/** Calls that ended at a time since the machine's boot, ms. */
export interface CallsAtUptime {
  time: number
  count: number
}

/** Clocks of this machine. */
export interface MachineTimes {
  boot: string
  /** Wall clock, ms since 1970. */
  now: number
  /** Time since the machine's boot, ms. */
  up: number
}

/**
 * Converts calls to times since this machine's boot, ms, ascending. Another machine's clock may be
 * wrong: its calls of the last five minutes, and those in the future, count as made now.
 */
export function toUptimes(calls: Call[], here: MachineTimes): CallsAtUptime[] {
  return calls
    .flatMap(({ at, boot, up, count = 1 }) => {
      if (boot !== '' && boot === here.boot) return [{ time: up, count }]
      return at > here.now - maxClockSkew ? [{ time: here.up, count }] : []
    })
    .filter(({ time }) => time > here.up - minute)
    .toSorted((a, b) => a.time - b.time)
}

/** Converts times since this machine's boot to calls that any machine can use. */
export function buildCalls(calls: CallsAtUptime[], here: MachineTimes): Call[] {
  return calls.map(({ time: up, count }) => ({
    at: Math.ceil(here.now + up - here.up),
    boot: here.boot,
    up,
    ...(count === 1 ? {} : { count }),
  }))
}

/**
 * Merges the calls known to this machine with those known to others. Calls in both lists count
 * once.
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
 * Parses the calls of an account. Invalid entries are ignored: the service's rate headers still
 * apply.
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

/** Formats the file of an account's calls. */
export function formatCalls(apply: string, calls: Call[]): string {
  const file: CallsFile = { format: 'edgewise.budget/2', apply, calls }
  return `${JSON.stringify(file)}\n`
}
