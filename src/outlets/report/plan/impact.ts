import { listCounts, pluralize } from '../../../core/model/text/words.ts'
import { computeImpactShare, type Impact } from '../../../core/model/traffic.ts'
import { formatCount } from '../stats/figures.ts'

/**
 * Formats the traffic of a plan: `41.0M requests a day, 12 % of the account's; 3 domains of the ten
 * largest`. Null where nobody uses figures, and for a plan that writes nothing.
 *
 * @param asks whether to say that there are no figures at all
 */
export function formatImpact(impact: Impact | undefined, asks = false): string | null {
  if (impact === undefined) return null
  const { requests, unknown, top, known, countedAt } = impact
  if (known + unknown === 0 || (countedAt === null && !asks)) return null
  if (known === 0) return `unknown; "edgewise stats --refresh" counts the requests of the domains`
  const share = computeImpactShare({ ...impact, unknown: 0 })
  const percent = `${Number(((share ?? 0) * 100).toPrecision(2))} %`
  const part = share === null ? 'an unknown share' : unknown > 0 ? `at least ${percent}` : percent
  return [
    `${formatCount(requests)} requests a day, ${part} of the account's`,
    ...listCounts([[top, 'domain of the ten largest', 'domains of the ten largest']]),
    ...(unknown === 0 ? [] : [`+ ${pluralize(unknown, 'domain')} unknown`]),
  ].join('; ')
}
