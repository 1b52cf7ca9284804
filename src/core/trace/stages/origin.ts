import type { ItemValues, NewOrigin, Origin, TosOrigin } from '../../catalog/generated/items.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { choose, isSet, map, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import { agree, findDeciders } from '../first-match.ts'
import { remember } from '../remember.ts'
import type { Run } from '../run.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { getDefaultPort } from '../url.ts'
import { readSetHeader } from './headers.ts'

/** An address with its share of requests; null if the split is not specified. */
interface Target {
  address: Text
  weight: number | null
}

/** One value if all main targets agree, otherwise the distinct ones in their order. */
type OneOrMore<T> = T | T[]

/** An origin that a request may go to, with how it is reached. */
interface Endpoint {
  targets: Target[]
  protocol: string | null
  port: number | null
  host: Answer<string>
  connectTimeout: number | null
}

/** The main endpoints, and the backups, a list for each rank. */
interface Endpoints {
  main: Endpoint[]
  backups: Endpoint[][]
}

const origins = ['origin', 'new_origin', 'tos_origin'] as const
type OriginKey = (typeof origins)[number]

/** The items that may decide, and the endpoints of each; null: none is set. */
interface Choice {
  deciders: (OriginKey | null)[]
  endpoints: Answer<Endpoints | null>[]
  unknown: Unknown[]
}

/** Why `extend` leaves the origin open, by R50; null if it does not. */
function findExtension(run: Run): Unknown | null {
  const extension = run.item('extend')
  if (extension === null || run.reading('R50') === 'nothing') return null
  return extension instanceof Unknown ? extension : Unknown.of('undecidable extend')
}

function findChoice(run: Run): Choice {
  const { deciders, unknown } = findDeciders(rankItems(run), (key) => isSet(run.item(key)))
  const endpoints = deciders.map((key) => (key === null ? null : readEndpoints(run, key)))
  return { deciders, endpoints, unknown }
}

/** Answers by each item that may decide. */
function byItem<T>(
  run: Run,
  read: (found: Endpoints, key: OriginKey | null) => Answer<T>,
  none: () => Answer<T | null> = () => null,
): Answer<T | null> {
  const extension = findExtension(run)
  if (extension !== null) return extension
  const { deciders, endpoints, unknown } = run.once(findChoice)
  return agree(
    deciders.map((key, i) =>
      map(endpoints[i] ?? null, (found): Answer<T | null> =>
        found === null ? none() : read(found, key),
      ),
    ),
    unknown,
  )
}

/** Which origin a request goes to, and how (request semantics, 3.5). */
export const origin = {
  item: (run: Run): Answer<OriginKey | null> => byItem(run, (_, key) => key),
  main: (run: Run): Answer<Plain<Target>[] | null> =>
    byItem(run, ({ main }) => readPlain(joinTargets(run, main))),
  backups: (run: Run): Answer<Plain<Target>[][] | null> =>
    byItem(run, ({ backups }) => readPlain(backups.map((rank) => joinTargets(run, rank)))),
  protocol: (run: Run): Answer<OneOrMore<string | null> | null> =>
    byItem(run, ({ main }) => collect(main.map(({ protocol }) => protocol))),
  port: (run: Run): Answer<OneOrMore<number | null> | null> =>
    byItem(run, ({ main }) => collect(main.map(({ port }) => port))),
  host: readHost,
  connectTimeout: (run: Run): Answer<OneOrMore<number> | null> =>
    byItem(
      run,
      ({ main }, key) => readConnectTimeout(run, key === 'new_origin' ? main : null),
      () => readConnectTimeout(run, null),
    ),
}

function rankItems(run: Run): OriginKey[] {
  if (run.item('tos_origin') === null) return ['new_origin', 'origin']
  const rank = run.reading('R51')
  if (rank === 'tos-first') return ['tos_origin', 'new_origin', 'origin']
  if (rank === 'tos-second') return ['new_origin', 'tos_origin', 'origin']
  return ['new_origin', 'origin', 'tos_origin']
}

const readers: { [Key in OriginKey]: (run: Run, item: ItemValues[Key]) => Endpoints } = {
  origin: readOrigin,
  new_origin: readNewOrigin,
  tos_origin: readTosOrigin,
}

function readEndpoints(run: Run, key: OriginKey): Answer<Endpoints | null> {
  const read = readers[key] as (run: Run, item: unknown) => Endpoints
  return run.read(key, null, (item) => read(run, item))
}

/** Host of the item `origin_host`; otherwise the domain. */
function readOriginHost(run: Run): Answer<string> {
  return run.read('origin_host', run.facts.url.host, ({ host }) => readPlain(host))
}

interface Way {
  protocol: string | null
  port: number | null
}

/** Protocol and port of the client. */
function readClientWay({ facts: { url } }: Run): Way & { port: number } {
  return { protocol: url.scheme, port: url.port ?? getDefaultPort(url.scheme) }
}

/** Protocol and port of a mode: the client's, fixed ones, or those of the item's fields. */
function readMode(run: Run, mode: string, custom: Way): Way {
  if (mode === 'http') return { protocol: 'http', port: 80 }
  if (mode === 'https') return { protocol: 'https', port: 443 }
  return mode === 'custom' ? custom : readClientWay(run)
}

const compileTargets = remember((item: Origin) => {
  const read = (list: Text = ''): Target[] =>
    splitText(list, ',').map((address) => ({ address, weight: null }))
  return { main: read(item.default_master), backups: read(item.default_slave) }
})

function readOrigin(run: Run, item: Origin): Endpoints {
  const { origin_mode: mode = 'default', ori_https: isHttps, port = 80 } = item
  const way = readMode(run, mode, { protocol: isHttps === 'yes' ? 'https' : 'http', port })
  const host = readOriginHost(run)
  const reach = (targets: Target[]): Endpoint[] => [{ targets, ...way, host, connectTimeout: null }]
  const { main, backups } = compileTargets(item)
  return { main: reach(main), backups: backups.length === 0 ? [] : [reach(backups)] }
}

/**
 * Ranks the entries that a carrier may use (R52): its own, or those of `default`; a list for each
 * rank.
 */
function rankByCarrier<T extends { isp?: string }>(
  run: Run,
  entries: readonly T[],
  rank: (entries: readonly T[]) => T[][],
): T[][] {
  const others = entries.filter(({ isp = 'default' }) => isp === 'default')
  if (others.length === entries.length) return rank(others)
  const { carrier } = run
  const own = entries.filter(({ isp }) => isp === carrier)
  if (own.length === 0) return rank(others)
  const use = run.reading('R52')
  if (use === 'own') return rank(own)
  if (use === 'own-then-default') return [...rank(own), ...rank(others)]
  return rank(entries.filter((entry) => own.includes(entry) || others.includes(entry)))
}

/** Groups entries by their ranks, the lowest first. */
function groupByRank<T>(entries: readonly T[], getRank: (entry: T) => number): T[][] {
  const ranks = [...new Set(entries.map(getRank))].toSorted((a, b) => a - b)
  return ranks.map((rank) => entries.filter((entry) => getRank(entry) === rank))
}

function readNewOrigin(run: Run, item: NewOrigin): Endpoints {
  const [main = [], ...backups] = rankByCarrier(run, item, (entries) =>
    groupByRank(entries, ({ level = 20 }) => -level),
  )
  return {
    main: main.map((entry) => reachEntry(run, entry)),
    backups: backups.map((rank) => rank.map((entry) => reachEntry(run, entry))),
  }
}

function reachEntry(run: Run, entry: NewOrigin[number]): Endpoint {
  const { origin: address, protocol = 'default', port, weight_level: weight = 1, host = '' } = entry
  const way =
    protocol === 'default'
      ? readClientWay(run)
      : { protocol, port: port ?? getDefaultPort(protocol) }
  return {
    targets: [{ address, weight }],
    ...way,
    host: host === '' ? readOriginHost(run) : readPlain(host),
    connectTimeout: entry.connect_time ?? 15,
  }
}

function readTosOrigin(run: Run, item: TosOrigin): Endpoints {
  const sign = run.reading('R54') === 'lowest' ? 1 : -1
  const [main = [], ...backups] = rankByCarrier(run, item, (groups) =>
    groupByRank(groups, ({ group_sort: rank }) => sign * rank),
  )
  return {
    main: reachGroups(run, main),
    backups: backups.map((groups) => reachGroups(run, groups)),
  }
}

/** Reaches the groups of one rank (R53, R55 has one answer). */
function reachGroups(run: Run, groups: TosOrigin): Endpoint[] {
  const isWeighted = groups.every(({ ips, weight }) => weight !== undefined && ips.length === 1)
  return groups.map((group) => {
    const weight = isWeighted ? (group.weight ?? null) : null
    const { origin_mode: mode = 'default', protocol = null, port = null } = group
    const custom = { protocol: protocol === 'default' ? run.facts.url.scheme : protocol, port }
    return {
      targets: group.ips.map((address) => ({ address, weight })),
      ...readMode(run, mode, custom),
      host: readGroupHost(run, group),
      connectTimeout: null,
    }
  })
}

function readGroupHost(
  run: Run,
  { host_mode: mode, host = '' }: TosOrigin[number],
): Answer<string> {
  if (mode === 'custom') return readPlain(host)
  return run.reading('R56') === 'origin_host' ? readOriginHost(run) : run.facts.url.host
}

/** Joins the targets of endpoints of one rank; what has no weight is split by R53. */
function joinTargets(run: Run, endpoints: Endpoint[]): Target[] {
  const targets = endpoints.flatMap((endpoint) => endpoint.targets)
  if (targets.every(({ weight }) => weight !== null)) return targets
  const weight = run.reading('R53') === 'equal' ? 1 : null
  return targets.map(({ address }) => ({ address, weight }))
}

function collect<T>(answers: Answer<T>[]): Answer<OneOrMore<T>> {
  const unknown = uniteUnknown(answers)
  if (unknown !== null) return unknown
  const distinct = [...new Set(answers as T[])]
  const [first] = distinct
  return distinct.length === 1 && first !== undefined ? first : distinct
}

/** @param main the main endpoints of `new_origin`, which have a time of their own */
function readConnectTimeout(run: Run, main: Endpoint[] | null): Answer<OneOrMore<number> | null> {
  const item = run.read('connect_timeout', null, ({ origin_connect_timeout: seconds }) =>
    Number(seconds),
  )
  if (main === null) return item
  const own = collect(main.map(({ connectTimeout }) => connectTimeout ?? 15))
  return item === null || run.reading('R68') === 'new_origin' ? own : item
}

/** The `Host` that the origin gets: of its item, or of a header operation (R57). */
function readHost(run: Run): Answer<OneOrMore<string> | null> {
  const host = () =>
    byItem<OneOrMore<string>>(run, ({ main }) => collect(main.map((each) => each.host)))
  if (findExtension(run) !== null) return host()
  const set = readSetHeader(run, 'host')
  if (set === null || run.reading('R57') === 'host') return host()
  return choose(
    isSet(set),
    () => map(set, (values) => (values?.length === 1 ? (values[0] ?? '') : [...(values ?? [])])),
    host,
  )
}
