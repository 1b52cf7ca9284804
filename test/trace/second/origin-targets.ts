import { splitList, type Items } from './items.ts'
import { known, bind, type Result } from './result.ts'
import type { World } from './trace.ts'
import { defaultPorts } from './url.ts'

/** A main or backup origin, with what is known of requests to it. */
export interface Target {
  address: string
  weight: number | null
  protocol: string | null
  port: number | null
  /** Null: the host of requests without one of their own. */
  host: string | null
  connectTimeout: number | null
}

/** Origins by their order: the first level is main, the others are backups. */
export type Levels = Target[][]

interface Endpoint {
  protocol: string | null
  port: number | null
}

function readRequestEndpoint({ facts }: World): { protocol: 'http' | 'https'; port: number } {
  const { scheme, port } = facts.url
  return { protocol: scheme, port: port ?? defaultPorts[scheme] }
}

/** Weight where the item has none. */
function readMissingWeight(world: World): number | null {
  return world.is('R53', 'equal') ? 1 : null
}

export function listOriginLevels(world: World, value: Items['origin']): Levels {
  const { default_master, default_slave, origin_mode = 'default', ori_https, port = 80 } = value
  const modes: Record<string, Endpoint> = {
    default: readRequestEndpoint(world),
    http: { protocol: 'http', port: 80 },
    https: { protocol: 'https', port: 443 },
    custom: { protocol: ori_https === 'yes' ? 'https' : 'http', port },
  }
  const endpoint = modes[origin_mode] ?? readRequestEndpoint(world)
  return [default_master, default_slave ?? '']
    .map((list) =>
      splitList(list).map((address) => ({
        address,
        weight: readMissingWeight(world),
        ...endpoint,
        host: null,
        connectTimeout: null,
      })),
    )
    .filter((level) => level.length > 0)
}

/** Groups entries by a number, in the order of the numbers. */
function groupBy<T>(entries: T[], readNumber: (entry: T) => number, descends: boolean): T[][] {
  const numbers = [...new Set(entries.map(readNumber))].toSorted((a, b) => a - b)
  return (descends ? numbers.toReversed() : numbers).map((number) =>
    entries.filter((entry) => readNumber(entry) === number),
  )
}

/** The usable entries for the client's carrier, in levels (request semantics, 3.5, "usable"). */
function chooseUsable<T extends { isp?: string | undefined }>(
  world: World,
  entries: T[],
  toLevels: (entries: T[]) => T[][],
): T[][] {
  const ofCarrier = (name: string): T[] => entries.filter(({ isp = 'default' }) => isp === name)
  const fallback = ofCarrier('default')
  if (fallback.length === entries.length) return toLevels(fallback)
  const own = ofCarrier(world.carrier())
  if (own.length === 0) return toLevels(fallback)
  const way = world.reading('R52')
  if (way === 'own') return toLevels(own)
  if (way === 'own-then-default') return [...toLevels(own), ...toLevels(fallback)]
  return toLevels(entries.filter((entry) => own.includes(entry) || fallback.includes(entry)))
}

export function listNewOriginLevels(world: World, value: Items['new_origin']): Levels {
  const levels = chooseUsable(world, value, (entries) =>
    groupBy(entries, ({ level = 20 }) => level, true),
  )
  return levels.map((level) =>
    level.map(({ origin, protocol = 'default', port, host = '', ...entry }) => ({
      address: origin,
      weight: entry.weight_level ?? 1,
      ...(protocol === 'default'
        ? readRequestEndpoint(world)
        : { protocol, port: port ?? defaultPorts[protocol] }),
      host: host === '' ? null : host,
      connectTimeout: entry.connect_time ?? 15,
    })),
  )
}

type Group = Items['tos_origin'][number]

function readGroupEndpoint(world: World, group: Group): Endpoint {
  const request = readRequestEndpoint(world)
  const { origin_mode = 'default', protocol = null, port = null } = group
  if (origin_mode === 'http') return { protocol: 'http', port: 80 }
  if (origin_mode === 'https') return { protocol: 'https', port: 443 }
  if (origin_mode !== 'custom') return request
  return { protocol: protocol === 'default' ? request.protocol : protocol, port }
}

/** The groups of `tos_origin` in levels. */
function listGroupLevels(world: World, value: Items['tos_origin']): Group[][] {
  return chooseUsable(world, value, (groups) => {
    const sorts = new Set(groups.map(({ group_sort }) => group_sort))
    const descends = sorts.size > 1 && world.is('R54', 'highest')
    return groupBy(groups, ({ group_sort }) => group_sort, descends)
  })
}

/** The targets of `tos_origin`. */
export function listGroupTargets(world: World, value: Items['tos_origin']): Levels {
  return listGroupLevels(world, value).map((groups) => {
    const splits = groups.every(({ weight, ips }) => weight !== undefined && ips.length === 1)
    return groups.flatMap((group) =>
      group.ips.map((address) => ({
        address,
        weight: splits ? (group.weight ?? null) : readMissingWeight(world),
        ...readGroupEndpoint(world, group),
        host: group.host_mode === 'custom' ? (group.host ?? null) : null,
        connectTimeout: null,
      })),
    )
  })
}

/** The host of requests to targets without one of their own. */
export function readPlainHost(world: World, usesItem: boolean): Result<string> {
  const domain = known(world.facts.url.host)
  if (!usesItem) return domain
  return bind(world.item('origin_host'), (value) => (value === null ? domain : known(value.host)))
}
