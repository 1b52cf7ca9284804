import { isCall } from '../../generated/state-validators.ts'
import type { CallsFile } from '../../generated/state-types.ts'
import { isObject, type Json } from '../../model/json.ts'

const minute = 60_000
/** Assumed maximum difference between two machines' clocks, ms. */
const maxClockSkew = 5 * minute

/** End of a call to the service, or its latest possible end. */
export interface Call {
  /** Wall clock, ms since 1970. */
  at: number
  /** Identifies the machine's boot; empty if unknown. */
  boot: string
  /** Time since that boot, ms: a clock that is never set. */
  up: number
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
export function toUptimes(calls: Call[], here: MachineTimes): number[] {
  return calls
    .flatMap(({ at, boot, up }) => {
      if (boot !== '' && boot === here.boot) return [up]
      return at > here.now - maxClockSkew ? [here.up] : []
    })
    .filter((up) => up > here.up - minute)
    .toSorted((a, b) => a - b)
}

/** Converts times since this machine's boot to calls that any machine can use. */
export function buildCalls(times: number[], here: MachineTimes): Call[] {
  return times.map((up) => ({ at: Math.ceil(here.now + up - here.up), boot: here.boot, up }))
}

/**
 * Merges the calls known to this machine with those known to others. Equal calls in one list are
 * different calls: those of another machine all count as made at the same time.
 */
export function mergeCalls(own: Call[], others: Call[]): Call[] {
  const unseen = own.map(formatCallKey)
  const more = others.filter((call) => {
    const index = unseen.indexOf(formatCallKey(call))
    if (index !== -1) unseen.splice(index, 1)
    return index === -1
  })
  return [...own, ...more]
}

function formatCallKey({ boot, up, at }: Call): string {
  return `${boot} ${up} ${at}`
}

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
  const file: CallsFile = { format: 'edgewise.budget/1', apply, calls }
  return `${JSON.stringify(file)}\n`
}
