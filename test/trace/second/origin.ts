import { report, type Answer } from './answers.ts'
import { decideField, readCacheSource } from './cache-rules.ts'
import { listOriginNames, readOriginRequest, readShown, type Values } from './headers.ts'
import type { Items } from './items.ts'
import { isInsensitive, matchPattern } from './matching.ts'
import {
  listGroupTargets,
  listNewOriginLevels,
  listOriginLevels,
  readPlainHost,
  type Levels,
  type Target,
} from './origin-targets.ts'
import {
  all,
  both,
  choose,
  collect,
  find,
  isSame,
  known,
  map,
  bind,
  unknownOf,
  type Cond,
  type Lazy,
  type Result,
} from './result.ts'
import { isRewritten, readRewriteRule, readRewritten } from './rewrite.ts'
import { seen } from './seen.ts'
import {
  dropSignature,
  findSigned,
  isCovered,
  stripSignature,
  type SignedUrls,
} from './signature.ts'
import type { Trace, World } from './trace.ts'
import { joinQuery, splitQuery } from './url.ts'

type OriginName = 'tos_origin' | 'new_origin' | 'origin'

/** What a field takes from the item that is the origin. */
type Pick<T> = { [K in OriginName]: (value: Items[K]) => Result<T> } & { none: Result<T> }

const ranks: Record<string, OriginName[]> = {
  'tos-first': ['tos_origin', 'new_origin', 'origin'],
  'tos-second': ['new_origin', 'tos_origin', 'origin'],
  'tos-last': ['new_origin', 'origin', 'tos_origin'],
}

/** Chooses the item that is the origin (request semantics, 3.5), without `extend`. */
function chooseOrigin<T>(world: World, pick: Pick<T>): Result<T> {
  const rank = ranks[world.reading('R51')] ?? []
  const first = rank.reduceRight<Lazy<T>>(
    (rest, name) => () => {
      const item = world.item(name)
      const isSet = map(item, (value) => value !== null)
      return choose(
        isSet,
        () => bind<unknown, T>(item, (value) => pick[name](value as never)),
        rest,
      )
    },
    pick.none,
  )
  return find(first)
}

function readItem(world: World): Result<string | null> {
  return chooseOrigin<string | null>(world, {
    tos_origin: () => known('tos_origin'),
    new_origin: () => known('new_origin'),
    origin: () => known('origin'),
    none: known(null),
  })
}

/** A field of the levels of the origin. */
function readLevels<T>(world: World, read: (levels: Levels) => Result<T>, none: T): Result<T> {
  return chooseOrigin<T>(world, {
    tos_origin: (value) => read(listGroupTargets(world, value)),
    new_origin: (value) => read(listNewOriginLevels(world, value)),
    origin: (value) => read(listOriginLevels(world, value)),
    none: known(none),
  })
}

function showLevel(level: Target[]): unknown {
  return level.map(({ address, weight }) => ({ address, weight }))
}

/** One value if all main targets agree, else the distinct values in the order of main. */
function joinValues<T>(values: T[]): T | T[] | null {
  const distinct = values.filter(
    (value, i) => values.findIndex((other) => isSame(other, value)) === i,
  )
  return distinct.length > 1 ? distinct : (distinct[0] ?? null)
}

function readEndpoint(world: World, field: 'protocol' | 'port'): Result<unknown> {
  return readLevels<unknown>(
    world,
    ([main = []]) => known(joinValues(main.map((target) => target[field]))),
    null,
  )
}

function readTargetHost(world: World): Result<unknown> {
  const join = ([main = []]: Levels, usesItem = true): Result<unknown> => {
    const hosts = main.map(({ host }) =>
      host === null ? readPlainHost(world, usesItem) : known(host),
    )
    return map(collect(hosts), joinValues)
  }
  return chooseOrigin<unknown>(world, {
    tos_origin: (value) => join(listGroupTargets(world, value), world.is('R56', 'origin_host')),
    new_origin: (value) => join(listNewOriginLevels(world, value)),
    origin: (value) => join(listOriginLevels(world, value)),
    none: known(null),
  })
}

/** The header `Host` as an operation sets it; null if none does. */
function readSetHost(world: World): Values {
  return world.once('set header host', (inner) => {
    const { values, isSet } = readOriginRequest(inner, 'host')
    return choose<string[] | null>(isSet, values, known(null))
  })
}

function readHost(world: World): Result<unknown> {
  const header = readSetHost(world)
  if (header.known && header.value === null) return readTargetHost(world)
  if (world.is('R57', 'host')) return readTargetHost(world)
  return choose<unknown>(
    map(header, (values) => values !== null),
    () => map(header, (values) => (values?.length === 1 ? values[0] : values)),
    () => readTargetHost(world),
  )
}

function readConnectTimeout(world: World): Result<unknown> {
  const item = map(world.item('connect_timeout'), (value) =>
    value === null ? null : Number(value.origin_connect_timeout),
  )
  return chooseOrigin<unknown>(world, {
    tos_origin: () => item,
    new_origin: (value) => {
      const [main = []] = listNewOriginLevels(world, value)
      const own = joinValues(main.map(({ connectTimeout }) => connectTimeout))
      if (world.is('R68', 'new_origin')) return known(own)
      return map(item, (seconds) => seconds ?? own)
    },
    origin: () => item,
    none: item,
  })
}

/** Path and query with the query that the cache rules send to the origin. */
function applyOriginQuery(
  world: World,
  target: Result<{ path: string; query: string | null }>,
): Result<string> {
  return decideField<string>(world, readCacheSource(world), ({ originQuery }) =>
    map(target, ({ path, query }) => joinQuery(path, originQuery(query))),
  )
}

function readPlainTarget(world: World): Result<string> {
  const { url } = world.facts
  const target = bind(world.item('visit_timestamp'), (value) =>
    (value?.origin_type ?? 1) === 1 ? stripSignature(world) : known(url),
  )
  return applyOriginQuery(world, target)
}

/** Whether the arguments of a signature go from a rewritten Q. */
function dropsArguments(world: World, value: SignedUrls): Cond {
  if ((value.origin_type ?? 1) !== 1 || value.req_uri_type > 2) return known(false)
  return all(() => isCovered(world, value), known(findSigned(world, value) !== null))
}

function readRewrittenTarget(world: World, text: Result<string>): Result<string> {
  const target = world.is('R60', 'query-last')
    ? applyOriginQuery(world, map(text, splitQuery))
    : text
  const item = world.item('visit_timestamp')
  if (!item.known) return both(target, item, () => target)
  const { value } = item
  if (value === null) return target
  return choose(
    dropsArguments(world, value),
    () =>
      map(target, (sent) => {
        const { path, query } = splitQuery(sent)
        return joinQuery(path, dropSignature(world, value, query))
      }),
    target,
  )
}

/** Path and query of requests to the origin. */
function readTarget(world: World): Result<string> {
  return choose<string>(
    isRewritten(world),
    () =>
      readRewrittenTarget(
        world,
        map(readRewritten(world), (text) => text ?? ''),
      ),
    () => readPlainTarget(world),
  )
}

function readAuth(world: World): Result<string | null> {
  return bind(world.item('vendor_origin_auth'), (value) => {
    if (value === null) return known<string | null>(null)
    const { match_method: kind = 'default', pattern = '' } = value
    const url: Result<string | null> = readShown(world, value.auth_url)
    if (kind === 'default' || pattern === '') return url
    const matches = matchPattern(world, {
      kind,
      pattern,
      ci: isInsensitive(world),
      where: 'vendor_origin_auth/pattern',
      source: seen,
    })
    return choose(matches, url, known(null))
  })
}

/** Whether headers without an operation stay as they are. */
export function reportOthers(
  trace: Trace,
  items: ('head_control' | 'client_real_ip' | 'add_back_source_head' | 'add_response_head')[],
): Answer {
  return report(trace, (world) => {
    const reasons = items.flatMap((name) => {
      const item = world.item(name)
      if (item.known || (name === 'client_real_ip' && world.is('R30', 'from-client'))) return []
      return [...item.reasons]
    })
    return reasons.length === 0 ? known('untouched') : unknownOf(new Set(reasons))
  })
}

/** Headers of requests to the origin. */
export function traceOriginHeaders(trace: Trace, names: string[]): Record<string, Answer> {
  return Object.fromEntries(
    names.map((name) => [name, report(trace, (world) => readOriginRequest(world, name).values)]),
  )
}

export function traceOrigin(trace: Trace): Record<string, unknown> {
  const covered = (question: (world: World) => Result<unknown>): Answer =>
    report(trace, question, true)
  const plain = (question: (world: World) => Result<unknown>): Answer => report(trace, question)
  const showMain = ([main = []]: Levels): Result<unknown> => known(showLevel(main))
  const showBackups = ([, ...rest]: Levels): Result<unknown> => known(rest.map(showLevel))
  return {
    item: covered(readItem),
    main: covered((world) => readLevels<unknown>(world, showMain, null)),
    backups: covered((world) => readLevels<unknown>(world, showBackups, null)),
    protocol: covered((world) => readEndpoint(world, 'protocol')),
    port: covered((world) => readEndpoint(world, 'port')),
    host: covered(readHost),
    url: plain(readTarget),
    rewrite: plain(readRewriteRule),
    headers: traceOriginHeaders(trace, listOriginNames(trace)),
    otherHeaders: reportOthers(trace, ['head_control', 'client_real_ip', 'add_back_source_head']),
    auth: plain(readAuth),
    range: plain((world) => map(world.item('range_back_source'), (value) => value ?? 'on')),
    follow: plain(readFollow),
    timeout: plain((world) =>
      map(world.item('timeout'), (value) => (value === null ? null : Number(value.time))),
    ),
    connectTimeout: covered(readConnectTimeout),
  }
}

/** The statuses that are followed. */
export function readFollow(world: World): Result<number[]> {
  return map(world.item('forward_status'), (value) =>
    [...new Set<number>(value?.codes ?? [])].toSorted((a, b) => a - b),
  )
}
