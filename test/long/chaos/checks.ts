import { isSameJson, parseJson, type Json } from '../../../src/core/model/json.ts'
import type { RecordedState } from '../../../src/state/store/store.ts'

/** Configuration of domains at the service. */
export type Actual = Record<string, Record<string, Json>>

/** A call as the emulator lists it. */
export interface ListedCall {
  time: number
  path: string
  status: number
  code: number
  domains: string[]
}

/** At most so many calls in any window. */
export interface Rate {
  calls: number
  seconds: number
}

/**
 * Lists where state claims of a domain what the service does not have, or does not know of it.
 *
 * @param mayLack whether state may lack items that the service has
 */
export function findStateFaults(
  domains: string[],
  recorded: RecordedState,
  actual: Actual,
  mayLack: boolean,
): string[] {
  return domains.flatMap((domain) => {
    const [items, values] = [recorded.get(domain), actual[domain] ?? {}]
    const names = new Set<string>([...(items?.keys() ?? []), ...Object.keys(values)])
    return [...names].flatMap((item) => {
      const [entry, value] = [items?.get(item), values[item]]
      const has = (candidate: Json | undefined) =>
        value !== undefined && candidate !== undefined && isSameJson(candidate, value)
      if (entry === undefined && mayLack) return []
      const isTrue =
        entry?.status === 'confirmed'
          ? has(entry.candidates[0])
          : entry?.status === 'in-doubt' && (entry.unknown === true || entry.candidates.some(has))
      const [state, service] = [JSON.stringify(entry), JSON.stringify(value)]
      return isTrue ? [] : [`${item} of ${domain} is ${service} at the service, ${state} in state`]
    })
  })
}

/** Lists the windows of a rate that have too many calls. */
export function findRateFaults(times: number[], { calls, seconds }: Rate): string[] {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.flatMap((time, i) => {
    const next = sorted[i + calls]
    const isFree = next === undefined || next - time >= seconds * 1000
    return isFree ? [] : [`${calls + 1} calls within ${(next - time) / 1000} s from ${time}`]
  })
}

/** Lists calls that were refused, for the rate or anything else. */
export function findRefusedCalls(calls: ListedCall[]): string[] {
  return calls
    .filter(({ status, code }) => status !== 200 || code !== 0)
    .map((call) => `a call was refused: ${JSON.stringify(call)}`)
}

/** Lists the domains of the writes that an apply printed as confirmed, by `apply --json`. */
export function listConfirmed(output: string): string[] {
  const started = new Map<unknown, string>()
  return output.split('\n').flatMap((line) => {
    // The last line of a killed process may be cut.
    if (!line.endsWith('}')) return []
    const event = parseJson(line) as Record<string, Json>
    if (event['type'] === 'write.started') started.set(event['id'], nameCall(event['domains']))
    const name = started.get(event['id'])
    return event['type'] === 'write.confirmed' && name !== undefined ? [name] : []
  })
}

/** Lists writes that were printed as confirmed more often than the service has answered them. */
export function findFalseReports(confirmed: string[], calls: ListedCall[]): string[] {
  const left = new Map<string, number>()
  for (const { domains } of calls)
    left.set(nameCall(domains), (left.get(nameCall(domains)) ?? 0) + 1)
  return confirmed.flatMap((name) => {
    left.set(name, (left.get(name) ?? 0) - 1)
    return (left.get(name) ?? 0) < 0 ? [`${name}: printed as confirmed without a call`] : []
  })
}

function nameCall(domains: Json | undefined): string {
  return Array.isArray(domains) ? domains.map(String).toSorted().join(' ') : ''
}
