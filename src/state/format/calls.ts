import { isCall } from '../../generated/state-validators.ts'
import type { CallsFile } from '../../generated/state-types.ts'
import { isObject, type Json } from '../../model/json.ts'

const minute = 60_000
const mostSkew = 5 * minute

/** When a call of the service ended, or may end at the latest. */
export interface Call {
  /** By the wall clock, ms since 1970. */
  at: number
  /** The machine's boot, and its time since then, ms: nobody sets that clock. */
  boot: string
  up: number
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
export function toUptimes(calls: Call[], here: MachineTimes): number[] {
  return calls
    .flatMap(({ at, boot, up }) => {
      if (boot !== '' && boot === here.boot) return [up]
      return at > here.now - mostSkew ? [here.up] : []
    })
    .filter((up) => up > here.up - minute)
    .toSorted((a, b) => a - b)
}

/** Times since the machine's boot as calls that any machine can read. */
export function buildCalls(times: number[], here: MachineTimes): Call[] {
  return times.map((up) => ({ at: Math.ceil(here.now + up - here.up), boot: here.boot, up }))
}

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
  const file: CallsFile = { format: 'edgewise.budget/1', apply, calls }
  return `${JSON.stringify(file)}\n`
}
