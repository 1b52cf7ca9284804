import type { Domain } from '../../core/model/item.ts'
import { buildBehaviour, computeShares, type Behaviour } from './behaviour.ts'
import { addCounts, type Counts, type Piece } from './count.ts'
import type { Period } from './periods.ts'
import { getValueAt, type Timeline } from './timeline.ts'
import { statuses, drawTraffic, type Area } from './traffic.ts'

/** Conditions of the requests of a domain over time. */
export interface History {
  behaviour: Timeline<Behaviour>
  /** Origins that did not answer. */
  dead: Timeline<ReadonlySet<string>>
}

const unconfigured = buildBehaviour(new Map())
const none: ReadonlySet<string> = new Set()

/**
 * Counts all statuses in each period, summed over domains and areas: a function of the seed and the
 * histories of the domains.
 *
 * @param gustFactor largest factor of gusts of errors; null for none
 */
export function countRequests(
  seed: string,
  histories: ReadonlyMap<Domain, History>,
  periods: Period[],
  from: readonly Area[],
  gustFactor: number | null = null,
): Counts {
  const counts = new Float64Array(periods.length * statuses.length)
  for (const [domain, history] of histories) {
    const traffic = drawTraffic(seed, domain, gustFactor)
    const pieces = buildPieces(history, (behaviour, dead) => ({
      cn: computeShares(traffic, behaviour, 'cn', dead),
      abroad: computeShares(traffic, behaviour, 'abroad', dead),
    }))
    for (const area of from) addCounts(counts, periods, traffic, area, pieces)
  }
  return counts
}

function buildPieces(
  { behaviour, dead }: History,
  shares: (behaviour: Behaviour, dead: ReadonlySet<string>) => Piece['shares'],
): Piece[] {
  const starts = new Set([
    -Infinity,
    ...behaviour.map(([from]) => from),
    ...dead.map(([from]) => from),
  ])
  return [...starts]
    .toSorted((a, b) => a - b)
    .map((from) => ({
      from,
      shares: shares(getValueAt(behaviour, from) ?? unconfigured, getValueAt(dead, from) ?? none),
    }))
}

/**
 * Formats the points of a series as JSON text, directly because of their number. Only codes that
 * occurred appear.
 */
export function formatPoints(counts: Counts, periods: Period[]): string {
  const points = periods.map(({ label }, p) => {
    let text = ''
    for (let s = 0; s < statuses.length; s++) {
      const count = counts[p * statuses.length + s] ?? 0
      if (count > 0) text += `${text === '' ? '' : ','}"${statuses[s]}":${count}`
    }
    return `[${label},{${text}}]`
  })
  return `[${points.join(',')}]`
}
