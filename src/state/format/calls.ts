import { isCall } from '../../core/model/generated/state-validators.ts'
import type { CallsFile } from '../../core/model/generated/state-types.ts'
import type { TimedCalls } from '../../core/model/call-ledger.ts'
import { formatJson, isObject, type Json } from '../../core/model/json.ts'

const minute = 60_000
/** Assumed maximum difference between two machines' clocks, ms. */
const maxClockSkew = 5 * minute

const format = 'edgewise.budget/1'

/** End of calls to the service, or their latest possible end; its schema describes the keys. */
export type Call = CallsFile['calls'][number]

/** Calls of another machine, or of an earlier boot. */
export interface CallsElsewhere extends TimedCalls {
  isElsewhere: true
  /** The calls as this machine saves them again. */
  call: Call
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
 * Converts calls to times since this machine's boot, ms, ascending. Another machine's wall clock
 * may be wrong: of its calls those of the last five minutes, and those in the future, count. Its
 * time since boot has no wrong differences, and each of its calls had ended when this machine first
 * loaded it: the last of them counts from then, the others as long before it as they were.
 */
export function toUptimes(calls: Call[], here: MachineTimes): (TimedCalls | CallsElsewhere)[] {
  const isOwn = ({ boot }: Call) => boot !== '' && boot === here.boot
  const findSeen = ({ seen }: Call) =>
    seen !== undefined && seen.boot !== '' && seen.boot === here.boot ? seen.up : here.up
  /** By boot of another machine: the maximum of this machine's clock minus that of the other. */
  const maxOffsets = new Map<string, number>()
  for (const call of calls) {
    if (isOwn(call) || call.inFlight === true || call.boot === '') continue
    const offset = findSeen(call) - call.up
    maxOffsets.set(call.boot, Math.min(offset, maxOffsets.get(call.boot) ?? Infinity))
  }
  return calls
    .flatMap((call): (TimedCalls | CallsElsewhere)[] => {
      const { at, boot, up, count = 1 } = call
      if (isOwn(call)) return [{ time: up, count }]
      if (at <= here.now - maxClockSkew) return []
      const offset = call.inFlight === true ? undefined : maxOffsets.get(boot)
      const time = offset === undefined ? findSeen(call) : up + offset
      const seen = { boot: here.boot, up: time }
      return [{ time, count, isElsewhere: true, call: { ...call, seen } }]
    })
    .filter(({ time }) => time > here.up - minute)
    .toSorted((a, b) => a.time - b.time)
}

/**
 * Counts the unknown calls of an apply that died on another machine: at most the call rate. Those
 * that were in flight may still arrive, so that their time is in the future.
 *
 * @param maxInFlight maximum number of calls at the same time
 */
export function countUnknownCalls(
  callsPerMinute: number,
  maxInFlight: number,
  upMs: number,
): TimedCalls[] {
  const inFlight = Math.min(maxInFlight, callsPerMinute)
  const calls = [
    { time: upMs, count: callsPerMinute - inFlight },
    { time: upMs + minute, count: inFlight },
  ]
  return calls.filter(({ count }) => count > 0)
}

/** Converts times since this machine's boot to calls that any machine can use. */
export function buildCalls(calls: TimedCalls[], here: MachineTimes): Call[] {
  return calls.map(({ time: up, count }) => ({
    at: Math.ceil(here.now + up - here.up),
    boot: here.boot,
    up,
    ...(count === 1 ? {} : { count }),
    ...(up > here.up ? { inFlight: true } : {}),
  }))
}

/** Returns the calls of other machines that still count, to be saved again. */
export function keepElsewhere(
  calls: (TimedCalls | CallsElsewhere)[],
  { up }: MachineTimes,
): Call[] {
  return calls.flatMap((each) => ('call' in each && each.time > up - minute ? [each.call] : []))
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
  const kept = present ?? call
  calls.set(key, count === undefined || count === 1 ? kept : { ...kept, count })
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
    calls: calls.filter((call): call is Call => isCall(call)),
  }
}

/** Formats the file of an account's calls. */
export function formatCalls(apply: string, calls: Call[]): string {
  const file: CallsFile = { format, apply, calls }
  return formatJson(file)
}
