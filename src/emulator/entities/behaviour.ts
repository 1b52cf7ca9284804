import { canonicalizeAddress } from '../../core/catalog/value/formats.ts'
import type { ItemKey, Value } from '../../core/model/item.ts'
import { computeDeniedShare, denyingItems } from './denied.ts'
import { statuses, type Area, type Traffic } from './traffic.ts'

/** Effects of the configuration of a domain on its requests. */
export interface Behaviour {
  /** Share answered with 403, by area. */
  denied: Record<Area, number>
  deniedProtocol: 'http' | 'https' | null
  /** Answer of https.force_https to http; 0 for none. */
  redirect: 0 | 301 | 302
  /** Addresses of the main origin with their weights, and of its backups. */
  main: [address: string, weight: number][]
  backup: string[]
  /** Error status → the redirect that replaces it. */
  rewrites: Record<string, 301 | 302>
}

/** Items that determine the behaviour. */
export const behaviourItems: ItemKey[] = [
  ...denyingItems,
  'deny_protocol',
  'https',
  'error_page_rewrite',
  'origin',
  'new_origin',
  'tos_origin',
]

/** Share of the requests to a dead origin that end in 502; the others end in 504. */
const refusedShare = 0.6
/** Share of the requests to a dead origin that fail although another origin can take over. */
const takeOverShare = 0.3

/** Derives the behaviour from the items of a domain. */
export function buildBehaviour(items: ReadonlyMap<ItemKey, Value>): Behaviour {
  const https = items.get('https') as { cert_id: number; force_https?: 0 | 301 | 302 } | undefined
  const rewrites = (items.get('error_page_rewrite') ?? []) as {
    error_status_code: number
    redirect_status_code: 301 | 302
  }[]
  const denied = items.get('deny_protocol') as { protocol: 'http' | 'https' } | undefined
  return {
    denied: { cn: computeDeniedShare(items, 'cn'), abroad: computeDeniedShare(items, 'abroad') },
    deniedProtocol: denied?.protocol ?? null,
    // Without a certificate there is no https to redirect to.
    redirect: https === undefined || https.cert_id === 0 ? 0 : (https.force_https ?? 0),
    ...rankOrigins(items),
    rewrites: Object.fromEntries(
      rewrites.map((rule) => [String(rule.error_status_code), rule.redirect_status_code]),
    ),
  }
}

/**
 * Ranks the origins: `new_origin` before `origin`. The specification does not rank `tos_origin`;
 * here it is between them.
 */
function rankOrigins(items: ReadonlyMap<ItemKey, Value>): Pick<Behaviour, 'main' | 'backup'> {
  const leveled = items.get('new_origin') as
    | { origin: string; level?: number; weight_level?: number }[]
    | undefined
  if (leveled !== undefined) {
    return splitByRank(
      leveled.map(({ origin, level = 20, weight_level = 1 }) => ({
        address: origin,
        rank: -level,
        weight: weight_level,
      })),
    )
  }
  const groups = items.get('tos_origin') as
    | { ips: string[]; group_sort: number; weight?: number }[]
    | undefined
  if (groups !== undefined) {
    return splitByRank(
      groups.flatMap(({ ips, group_sort, weight = 1 }) =>
        ips.map((address) => ({ address, rank: group_sort, weight })),
      ),
    )
  }
  const plain = items.get('origin') as
    | { default_master: string; default_slave?: string }
    | undefined
  return {
    main: parseAddresses(plain?.default_master).map((address) => [address, 1]),
    backup: parseAddresses(plain?.default_slave),
  }
}

function splitByRank(
  origins: { address: string; rank: number; weight: number }[],
): Pick<Behaviour, 'main' | 'backup'> {
  const first = origins.reduce((least, { rank }) => Math.min(least, rank), Infinity)
  return {
    main: origins.flatMap(({ address, rank, weight }) =>
      rank === first ? [[canonicalizeAddress(address), weight] as [string, number]] : [],
    ),
    backup: origins.flatMap(({ address, rank }) =>
      rank === first ? [] : [canonicalizeAddress(address)],
    ),
  }
}

function parseAddresses(list = ''): string[] {
  return list
    .split(',')
    .map((address) => canonicalizeAddress(address.trim()))
    .filter((address) => address !== '')
}

/** Computes the share of origin requests that fail: all of them once no origin is alive. */
export function computeFailingShare(
  { main, backup }: Behaviour,
  dead: ReadonlySet<string>,
): number {
  const all = main.reduce((sum, [, weight]) => sum + weight, 0)
  const lost = main.reduce((sum, [address, weight]) => sum + (dead.has(address) ? weight : 0), 0)
  if (lost === 0) return 0
  const alive = lost < all || backup.some((address) => !dead.has(address))
  return alive ? (lost / all) * takeOverShare : 1
}

/**
 * Computes the share of a domain's requests from an area that end in each status, in the order of
 * `statuses`. Redirects can make the total exceed 1.
 */
export function computeShares(
  traffic: Traffic,
  behaviour: Behaviour,
  area: Area,
  dead: ReadonlySet<string>,
): Float64Array {
  const { http, miss } = traffic
  const passed =
    (1 - behaviour.denied[area]) * (1 - computeProtocolShare(behaviour.deniedProtocol, http))
  const failing = miss * computeFailingShare(behaviour, dead)
  const shares = Float64Array.from(traffic.shares, (share) => share * passed * (1 - failing))
  const add = (status: (typeof statuses)[number], share: number) => {
    const i = statuses.indexOf(status)
    shares[i] = (shares[i] ?? 0) + share
  }
  add(403, 1 - passed)
  add(502, passed * failing * refusedShare)
  add(504, passed * failing * (1 - refusedShare))
  // A client that is redirected to https sends a second request, which is counted too.
  if (behaviour.redirect !== 0 && behaviour.deniedProtocol !== 'http')
    add(behaviour.redirect, passed * http)
  for (const [status, redirect] of Object.entries(behaviour.rewrites)) {
    const i = statuses.findIndex((each) => each === Number(status))
    if (i === -1) continue
    add(redirect, shares[i] ?? 0)
    shares[i] = 0
  }
  return shares
}

function computeProtocolShare(protocol: Behaviour['deniedProtocol'], http: number): number {
  if (protocol === null) return 0
  return protocol === 'http' ? http : 1 - http
}
