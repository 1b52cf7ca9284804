import type {
  ConnectTimeout,
  NewOrigin,
  Origin,
  OriginHost,
  TosOrigin,
} from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey } from '../../model/item.ts'
import { isSet, choose, map, Unknown, type Answer } from '../answer.ts'
import { askOnce, type Evaluation, type Question, type Questions } from '../evaluation.ts'
import { agree, findDeciders } from '../first-match.ts'
import { remember } from '../remember.ts'
import type { Plain, Text } from '../../model/secret.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { getDefaultPort } from '../url.ts'
import { askSetHeader } from './headers.ts'

/** An address with its share of requests; null if the split is not specified. */
export interface Target {
  address: Text
  weight: number | null
}

/** One value if all main targets agree, otherwise the distinct ones in their order. */
type OneOrMore<T> = T | T[]

/** The answers about the origin that one item gives. */
export interface OriginAnswers {
  [name: string]: unknown
  item: Answer<ItemKey | null>
  main: Answer<Plain<Target>[] | null>
  backups: Answer<Plain<Target>[][] | null>
  protocol: Answer<OneOrMore<string | null> | null>
  port: Answer<OneOrMore<number | null> | null>
  host: Answer<OneOrMore<string> | null>
  connectTimeout: Answer<OneOrMore<number> | null>
}

/** An origin that a request may go to, with how it is reached. */
interface Endpoint {
  targets: Target[]
  protocol: Answer<string | null>
  port: Answer<number | null>
  host: Answer<string>
  connectTimeout: number | null
}

/** The main endpoints, and the backups, a list for each rank. */
interface Endpoints {
  main: Endpoint[]
  backups: Endpoint[][]
}

/** Asks which origin a request goes to, and how (request semantics, 3.5). */
export const askOrigin = remember((q: Questions): Question<OriginAnswers> => q.askAll(answerAll))

function answerAll(e: Evaluation): OriginAnswers {
  const extension = e.item('extend')
  if (extension !== null && e.reading('R50') !== 'nothing')
    return everything(
      extension instanceof Unknown ? extension : new Unknown(['undecidable extend']),
    )
  const { deciders, unknown } = findDeciders(rankItems(e), (key) => isSet(e.item(key)))
  const endpoints = deciders.map((key) => (key === null ? null : readEndpoints(e, key)))
  const each = <T>(
    read: (key: ItemKey, found: Endpoints) => Answer<T>,
    readNone: () => Answer<T | null> = () => null,
  ): Answer<T | null> =>
    agree(
      deciders.map((key, i) => {
        if (key === null) return readNone()
        return map(endpoints[i] ?? { main: [], backups: [] }, (found) => read(key, found))
      }),
      unknown,
    )
  return {
    item: agree<ItemKey | null>(deciders, unknown),
    main: each((_, { main }) => readPlain(joinTargets(e, main))),
    backups: each((_, { backups }) => readPlain(backups.map((rank) => joinTargets(e, rank)))),
    protocol: each((_, { main }) => collect(main.map(({ protocol }) => protocol))),
    port: each((_, { main }) => collect(main.map(({ port }) => port))),
    host: each((_, { main }) => collect(main.map(({ host }) => host))),
    connectTimeout: each(
      (key, { main }) => readConnectTimeout(e, key, main),
      () => readConnectTimeout(e, null, []),
    ),
  }
}

function everything(unknown: Unknown): OriginAnswers {
  return {
    item: unknown,
    main: unknown,
    backups: unknown,
    protocol: unknown,
    port: unknown,
    host: unknown,
    connectTimeout: unknown,
  }
}

function rankItems(e: Evaluation): ItemKey[] {
  const tos = e.item('tos_origin')
  if (tos === null) return ['new_origin', 'origin']
  const rank = e.reading('R51')
  if (rank === 'tos-first') return ['tos_origin', 'new_origin', 'origin']
  if (rank === 'tos-second') return ['new_origin', 'tos_origin', 'origin']
  return ['new_origin', 'origin', 'tos_origin']
}

function readEndpoints(e: Evaluation, key: ItemKey): Answer<Endpoints> {
  return map(e.item(key), (value): Endpoints => {
    if (key === 'origin') return readOrigin(e, castAccepted<Origin>(value))
    if (key === 'new_origin') return readNewOrigin(e, castAccepted<NewOrigin>(value))
    return readTosOrigin(e, castAccepted<TosOrigin>(value))
  })
}

/** Host of the item `origin_host`; otherwise the domain. */
function readOriginHost(e: Evaluation): Answer<string> {
  return map(e.item('origin_host'), (value) =>
    value === null ? e.facts.url.host : readPlain(castAccepted<OriginHost>(value).host),
  )
}

function getClientPort(e: Evaluation): number {
  return e.facts.url.port ?? getDefaultPort(e.facts.url.scheme)
}

/** Protocol and port of a mode: the client's, fixed ones, or those of the item's fields. */
function readMode(
  e: Evaluation,
  mode: string,
  custom: { protocol: string | null; port: number | null },
): { protocol: string | null; port: number | null } {
  if (mode === 'http') return { protocol: 'http', port: 80 }
  if (mode === 'https') return { protocol: 'https', port: 443 }
  return mode === 'custom' ? custom : { protocol: e.facts.url.scheme, port: getClientPort(e) }
}

const compileTargets = remember((item: Origin) => {
  const read = (list: Text = ''): Target[] =>
    splitText(list, ',').map((address) => ({ address, weight: null }))
  return { main: read(item.default_master), backups: read(item.default_slave) }
})

function readOrigin(e: Evaluation, item: Origin): Endpoints {
  const { origin_mode: mode = 'default', ori_https: isHttps, port = 80 } = item
  const custom = { protocol: isHttps === 'yes' ? 'https' : 'http', port }
  const { protocol, port: number } = readMode(e, mode, custom)
  const host = readOriginHost(e)
  const reach = (targets: Target[]): Endpoint[] => [
    { targets, protocol, port: number, host, connectTimeout: null },
  ]
  const { main, backups } = compileTargets(item)
  return { main: reach(main), backups: backups.length === 0 ? [] : [reach(backups)] }
}

type WithCarrier = { isp?: string }

/**
 * Ranks the entries that a carrier may use (R52): its own, or those of `default`; a list for each
 * rank.
 */
function rankByCarrier<T extends WithCarrier>(
  e: Evaluation,
  entries: readonly T[],
  rank: (entries: readonly T[]) => T[][],
): T[][] {
  const others = entries.filter(({ isp = 'default' }) => isp === 'default')
  if (others.length === entries.length) return rank(others)
  const carrier = e.carrier()
  const own = entries.filter(({ isp }) => isp === carrier)
  if (own.length === 0) return rank(others)
  const use = e.reading('R52')
  if (use === 'own') return rank(own)
  if (use === 'own-then-default') return [...rank(own), ...rank(others)]
  return rank(entries.filter((entry) => own.includes(entry) || others.includes(entry)))
}

function groupBy<T>(
  entries: readonly T[],
  getRank: (entry: T) => number,
  compare: (a: number, b: number) => number,
): T[][] {
  const ranks = [...new Set(entries.map(getRank))].toSorted(compare)
  return ranks.map((rank) => entries.filter((entry) => getRank(entry) === rank))
}

function readNewOrigin(e: Evaluation, item: NewOrigin): Endpoints {
  const ranked = rankByCarrier(e, item, (entries) =>
    groupBy(
      entries,
      ({ level = 20 }) => level,
      (a, b) => b - a,
    ),
  )
  const [main = [], ...backups] = ranked.map((entries) =>
    entries.map((entry): Endpoint => {
      const { origin: address, protocol = 'default', port, weight_level: weight = 1 } = entry
      const isDefault = protocol === 'default'
      return {
        targets: [{ address, weight }],
        protocol: isDefault ? e.facts.url.scheme : protocol,
        port: isDefault ? getClientPort(e) : (port ?? getDefaultPort(protocol)),
        host: (entry.host ?? '') === '' ? readOriginHost(e) : readPlain(entry.host ?? ''),
        connectTimeout: entry.connect_time ?? 15,
      }
    }),
  )
  return { main, backups }
}

function readTosOrigin(e: Evaluation, item: TosOrigin): Endpoints {
  const hasRanks = new Set(item.map(({ group_sort: rank }) => rank)).size > 1
  const isAscending = !hasRanks || e.reading('R54') === 'lowest'
  const ranked = rankByCarrier(e, item, (groups) =>
    groupBy(
      groups,
      ({ group_sort: rank }) => rank,
      (a, b) => (isAscending ? a - b : b - a),
    ),
  )
  const [main = [], ...backups] = ranked.map((groups) => {
    const isWeighted = groups.every(({ ips, weight }) => weight !== undefined && ips.length === 1)
    return groups.map((group): Endpoint => {
      const weight = isWeighted ? (group.weight ?? null) : null
      const { origin_mode: mode = 'default', protocol = null, port = null } = group
      const custom = { protocol: protocol === 'default' ? e.facts.url.scheme : protocol, port }
      const how = readMode(e, mode, custom)
      const named = map(e.open('R55'), () => how)
      return {
        targets: group.ips.map((address) => ({ address, weight })),
        protocol: map(named, (found) => found.protocol),
        port: map(named, (found) => found.port),
        host: readGroupHost(e, group),
        connectTimeout: null,
      }
    })
  })
  return { main, backups }
}

function readGroupHost(e: Evaluation, group: TosOrigin[number]): Answer<string> {
  if (group.host_mode === 'custom') return readPlain(group.host ?? '')
  const byItem = readOriginHost(e)
  if (byItem === e.facts.url.host) return byItem
  return e.reading('R56') === 'origin_host' ? byItem : e.facts.url.host
}

/** Joins the targets of endpoints of one rank; what has no weight is split by R53. */
function joinTargets(e: Evaluation, endpoints: Endpoint[]): Target[] {
  const targets = endpoints.flatMap((endpoint) => endpoint.targets)
  if (targets.every(({ weight }) => weight !== null)) return targets
  const weight = e.reading('R53') === 'equal' ? 1 : null
  return targets.map(({ address }) => ({ address, weight }))
}

function collect<T>(answers: Answer<T>[]): Answer<OneOrMore<T>> {
  const unknown = answers.filter((answer) => answer instanceof Unknown)
  if (unknown.length > 0) return new Unknown(unknown.flatMap(({ reasons }) => reasons))
  const [first, ...others] = [...new Set(answers as T[])]
  return others.length === 0 && first !== undefined ? first : [...new Set(answers as T[])]
}

function readConnectTimeout(
  e: Evaluation,
  key: ItemKey | null,
  main: Endpoint[],
): Answer<OneOrMore<number> | null> {
  const item = map(e.item('connect_timeout'), (value) =>
    value === null ? null : Number(castAccepted<ConnectTimeout>(value).origin_connect_timeout),
  )
  if (key !== 'new_origin') return item
  const own = collect(main.map(({ connectTimeout }) => connectTimeout ?? 15))
  if (item === null || item === own) return own
  return e.reading('R68') === 'new_origin' ? own : item
}

/** Asks for the `Host` that the origin gets: of its item, or of a header operation (R57). */
export const askHost = askOnce<OneOrMore<string> | null>((e, q) => {
  const extension = e.item('extend')
  const set =
    extension !== null && e.reading('R50') !== 'nothing' ? null : e.ask(askSetHeader(q, 'host'))
  const mayExtend = e.items.get('extend')?.every((value) => value === null) !== true
  const isPlain = set === null && !mayExtend
  const host = () => (isPlain ? e.ask(askOrigin(q)) : answerAll(e)).host
  return choose(isSet(set), () => (e.reading('R57') === 'host' ? host() : map(set, readHost)), host)
})

function readHost(values: readonly string[] | null): OneOrMore<string> {
  const [first, ...others] = values ?? []
  return first !== undefined && others.length === 0 ? first : [...(values ?? [])]
}
