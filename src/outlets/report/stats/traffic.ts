import type { JsonObject } from '../../../core/model/json.ts'
import { listSome, pluralize } from '../../../core/model/text/words.ts'
import type { RefreshedTraffic } from '../../../core/model/traffic.ts'
import { formatCount } from './figures.ts'

/** Formats what a refresh of traffic has done, a sentence a line. */
export function formatRefresh(refreshed: RefreshedTraffic): string {
  const { day, counted, added, fresh, idle, unknown } = refreshed
  return [
    `Traffic of ${day}: ${pluralize(counted, 'domain')} counted (${added} new), ${fresh} already ` +
      `known; ${idle} without requests.`,
    formatAccount(refreshed),
    ...(unknown.length === 0
      ? []
      : [`Not counted, since the account does not have them: ${listSome(unknown)}.`]),
  ].join('\n')
}

function formatAccount({ account, isSummed }: RefreshedTraffic): string {
  if (account === null) return 'The requests of the account are not known.'
  const requests = `${formatCount(account)} requests`
  return isSummed
    ? `The service does not sum the account; shares are of the ${requests} of these domains.`
    : `The account has ${requests}.`
}

/** Builds the JSON of a refresh of traffic, `edgewise.traffic-refresh/1`. */
export function buildRefreshJson({
  added,
  idle,
  isSummed,
  ...refreshed
}: RefreshedTraffic): JsonObject {
  return {
    format: 'edgewise.traffic-refresh/1',
    ...refreshed,
    new: added,
    withoutRequests: idle,
    summed: isSummed,
  }
}
