import type { NewOrigin, Origin, TosOrigin } from '../../catalog/generated/items.ts'
import { groupBy } from '../../model/lists.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { choose, isSet, map, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import { agree, findDeciders, type Deciders } from '../first-match.ts'
import type { Run } from '../run.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { getDefaultPort } from '../url.ts'
import { readSetHeader } from './headers.ts'

/** An address with its share of requests; null if the split is not specified. */
interface Target {
  address: Text
  weight: number | null
}

interface Way {
  protocol: string | null
  port: number | null
}

/** An origin that a request may go to, with how it is reached. */
interface Endpoint extends Way {
  targets: Target[]
  host: Answer<string>
  /** Of `new_origin` alone. */
  connectTimeout?: number
}

/** The main endpoints, then the backups of each rank. */
type Ranks = Endpoint[][]

/** One value if all main targets agree, otherwise the distinct ones in their order. */
type OneOrMore<T> = T | T[]

type OriginKey = keyof typeof readers

/** Why `extend` leaves something open, under some answers of R50; null if it does not. */
export function findExtension(run: Run, open = ['origin', 'anything']): Unknown | null {
  const extension = run.item('extend')
  if (extension === null || !open.includes(run.reading('R50'))) return null
  return extension instanceof Unknown ? extension : Unknown.of('undecidable extend')
}

/** The items that may decide, by their rank (R51). */
function findItems(run: Run): Deciders<OriginKey> {
  const items: OriginKey[] = ['new_origin', 'origin']
  if (run.item('tos_origin') !== null) {
    const at = ['tos-first', 'tos-second', 'tos-last'].indexOf(run.reading('R51'))
    items.splice(at, 0, 'tos_origin')
  }
  return findDeciders(items, (key) => isSet(run.item(key)))
}

/** Answers by each item that may decide. */
function byItem<T>(
  run: Run,
  read: (ranks: Ranks, key: OriginKey) => Answer<T>,
  none: Answer<T | null> = null,
): Answer<T | null> {
  return (
    findExtension(run) ??
    agree(run.once(findItems), (key) =>
      key === null
        ? none
        : map(run.once(readers[key]), (ranks): Answer<T | null> => read(ranks, key)),
    )
  )
}

/** Answers by something of the main endpoints. */
function byMain<T>(run: Run, read: (endpoint: Endpoint) => Answer<T>): Answer<OneOrMore<T> | null> {
  return byItem(run, ([main = []]) => collect(main.map(read)))
}

/** Which origin a request goes to, and how (request semantics, 3.5). */
export const origin = {
  item: (run: Run): Answer<OriginKey | null> => byItem(run, (_, key) => key),
  main: (run: Run): Answer<Plain<Target>[] | null> =>
    byItem(run, ([main = []]) => readPlain(joinTargets(run, main))),
  backups: (run: Run): Answer<Plain<Target>[][] | null> =>
    byItem(run, ([, ...backups]) => readPlain(backups.map((rank) => joinTargets(run, rank)))),
  protocol: (run: Run) => byMain(run, ({ protocol }) => protocol),
  port: (run: Run) => byMain(run, ({ port }) => port),
  host: readHost,
  connectTimeout: readConnectTimeout,
}

const readers = {
  origin: (run: Run) => run.read('origin', [], (item) => readOrigin(run, item)),
  new_origin: (run: Run) => run.read('new_origin', [], (item) => readNewOrigin(run, item)),
  tos_origin: (run: Run) => run.read('tos_origin', [], (item) => readTosOrigin(run, item)),
}

/** Host of the item `origin_host`; otherwise the domain. */
function readOriginHost(run: Run): Answer<string> {
  return run.read('origin_host', run.facts.url.host, ({ host }) => readPlain(host))
}

/** Protocol and port of a mode: the client's, fixed ones, or those of the item's fields. */
function readMode({ facts: { url } }: Run, mode: string, custom?: Way): Way {
  if (mode === 'http' || mode === 'https') return { protocol: mode, port: getDefaultPort(mode) }
  if (mode === 'custom' && custom !== undefined) return custom
  return { protocol: url.scheme, port: url.port ?? getDefaultPort(url.scheme) }
}

function readOrigin(run: Run, item: Origin): Ranks {
  const { origin_mode: mode = 'default', ori_https: isHttps, port = 80 } = item
  const way = readMode(run, mode, { protocol: isHttps === 'yes' ? 'https' : 'http', port })
  const host = readOriginHost(run)
  return [item.default_master, item.default_slave ?? '']
    .map((list) => splitText(list, ',').map((address) => ({ address, weight: null })))
    .filter((targets, i) => i === 0 || targets.length > 0)
    .map((targets) => [{ targets, ...way, host }])
}

/** The entries that a carrier may use (R52), then those that are its backups. */
function listUsable<T extends { isp?: string }>(run: Run, entries: readonly T[]): T[][] {
  const listOf = (...carriers: string[]) =>
    entries.filter(({ isp = 'default' }) => carriers.includes(isp))
  const others = listOf('default')
  const own = others.length === entries.length ? [] : listOf(run.carrier)
  if (own.length === 0) return [others]
  const use = run.reading('R52')
  if (use === 'own') return [own]
  return use === 'own-then-default' ? [own, others] : [listOf(run.carrier, 'default')]
}

/** Ranks the entries that a carrier may use; the lowest rank is the main one. */
function rankByCarrier<T extends { isp?: string }>(
  run: Run,
  entries: readonly T[],
  getRank: (entry: T) => number,
): T[][] {
  return listUsable(run, entries).flatMap((usable) =>
    [...groupBy(usable, getRank)].toSorted(([a], [b]) => a - b).map(([, same]) => same),
  )
}

function readNewOrigin(run: Run, item: NewOrigin): Ranks {
  const ranks = rankByCarrier(run, item, ({ level = 20 }) => -level)
  return ranks.map((entries) =>
    entries.map(({ origin: address, protocol = 'default', port, host = '', ...entry }) => {
      const way = readMode(run, protocol)
      return {
        targets: [{ address, weight: entry.weight_level ?? 1 }],
        protocol: way.protocol,
        port: protocol === 'default' ? way.port : (port ?? way.port),
        host: host === '' ? readOriginHost(run) : readPlain(host),
        connectTimeout: entry.connect_time ?? 15,
      }
    }),
  )
}

/** Reads the groups of each rank (R53, R54; R55 has one answer). */
function readTosOrigin(run: Run, item: TosOrigin): Ranks {
  const sign = run.reading('R54') === 'lowest' ? 1 : -1
  const ranks = rankByCarrier(run, item, ({ group_sort: rank }) => sign * rank)
  return ranks.map((groups) => {
    const isWeighted = groups.every(({ ips, weight }) => weight !== undefined && ips.length === 1)
    return groups.map((group) => {
      const { origin_mode: mode = 'default', protocol = null, port = null, host = '' } = group
      const weight = isWeighted ? (group.weight ?? null) : null
      const custom = { protocol: protocol === 'default' ? run.facts.url.scheme : protocol, port }
      const findHost = () =>
        run.reading('R56') === 'origin_host' ? readOriginHost(run) : run.facts.url.host
      return {
        targets: group.ips.map((address) => ({ address, weight })),
        ...readMode(run, mode, custom),
        host: group.host_mode === 'custom' ? readPlain(host) : findHost(),
      }
    })
  })
}

/** Joins the targets of endpoints of one rank; what has no weight is split by R53. */
function joinTargets(run: Run, endpoints: Endpoint[]): Target[] {
  const targets = endpoints.flatMap((endpoint) => endpoint.targets)
  if (targets.every(({ weight }) => weight !== null)) return targets
  const weight = run.reading('R53') === 'equal' ? 1 : null
  return targets.map(({ address }) => ({ address, weight }))
}

function collect<T>(answers: Answer<T>[]): Answer<OneOrMore<T>> {
  const distinct = [...new Set(answers as T[])]
  const [first] = distinct
  return uniteUnknown(answers) ?? (distinct.length === 1 && first !== undefined ? first : distinct)
}

/** The time for connecting: of `connect_timeout`, or the own one of `new_origin` (R68). */
function readConnectTimeout(run: Run): Answer<OneOrMore<number | undefined> | null> {
  const item = run.read('connect_timeout', null, (value) => Number(value.origin_connect_timeout))
  return byItem<OneOrMore<number | undefined> | null>(
    run,
    ([main = []], key) =>
      key === 'new_origin' && (item === null || run.reading('R68') === 'new_origin')
        ? collect(main.map(({ connectTimeout }) => connectTimeout))
        : item,
    item,
  )
}

/** The `Host` that the origin gets: of its item, or of a header operation (R57). */
function readHost(run: Run): Answer<OneOrMore<string> | null> {
  const host = byMain(run, (endpoint) => endpoint.host)
  const set = readSetHeader(run, 'host')
  if (findExtension(run) !== null || set === null || run.reading('R57') === 'host') return host
  return choose(
    isSet(set),
    () => map(set, (values) => (values?.length === 1 ? (values[0] ?? '') : [...(values ?? [])])),
    host,
  )
}
