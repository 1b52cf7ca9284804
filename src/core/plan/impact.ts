import type { Domain } from '../model/item.ts'
import type { Impact, TrafficProfile } from '../model/traffic.ts'

/** Number of the largest domains whose changes are counted. */
const largest = 10

/** Computes how much traffic some domains have; a domain without a figure is unknown, never 0. */
export function computeImpact(
  names: Iterable<Domain>,
  { domains, account, at }: TrafficProfile,
): Impact {
  const sizes = Array.from(domains.values(), ({ requests }) => requests)
  // The smallest of the largest domains that have traffic.
  const least = Math.max(1, sizes.toSorted((a, b) => b - a)[largest - 1] ?? 1)
  const impact: Impact = {
    requests: 0,
    account,
    known: 0,
    unknown: 0,
    top: 0,
    countedAt: at || null,
  }
  for (const name of new Set(names)) {
    const figure = domains.get(name)
    if (figure === undefined) impact.unknown++
    else {
      impact.known++
      impact.requests += figure.requests
      impact.countedAt = Math.min(impact.countedAt ?? Infinity, figure.at)
      if (figure.requests >= least) impact.top++
    }
  }
  return { ...impact, top: Math.min(largest, impact.top) }
}
