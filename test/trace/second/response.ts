import { report, type Answer } from './answers.ts'
import { listResponseNames, readAccessHeader, readOriginHeader, readResponse } from './headers.ts'
import type { Items } from './items.ts'
import { isInsensitive, lower, matchPattern } from './matching.ts'
import { readFollow, reportOthers } from './origin.ts'
import { readLocation, readOutcome, readRedirectStatus } from './outcome.ts'
import {
  all,
  both,
  choose,
  firstMatch,
  isNo,
  known,
  map,
  no,
  not,
  some,
  bind,
  unknown,
  yes,
  type Cond,
  type Result,
} from './result.ts'
import { seen } from './seen.ts'
import { readZone } from './signature.ts'
import { readSubject } from './subjects.ts'
import type { Trace, World } from './trace.ts'
import { listArguments } from './url.ts'
import { toLocal } from './zone.ts'

type PageField = 'status' | 'location'

/** A field of an answer, or of the page that replaces an error: that of the last rule for it. */
function readPageField(world: World, status: Result<number>, field: PageField): Result<unknown> {
  const pages = world.item('error_page_rewrite')
  const isPlain = (pages.known && pages.value === null) || (status.known && status.value < 400)
  if (isPlain) return field === 'status' ? status : known(null)
  return both(pages, status, (rules, code) => {
    const rule = rules?.findLast(({ error_status_code }) => error_status_code === code)
    return known(
      field === 'status' ? (rule?.redirect_status_code ?? code) : (rule?.redirect_url ?? null),
    )
  })
}

function readServed(world: World, field: PageField): Result<unknown> {
  const { status: given } = world.facts
  const status: Result<number> =
    given === undefined ? unknown('not-given origin.status') : known(given)
  const codes = readFollow(world)
  const isMoved = (code: number): boolean => code === 301 || code === 302
  const isFollowed = all(
    () => map(status, isMoved),
    () => map(codes, (list) => list.some(isMoved)),
    () => both(codes, status, (list, code) => known(list.some((each) => each === code))),
  )
  return choose<unknown>(
    isFollowed,
    () => unknown('not-given origin.followed'),
    () => readPageField(world, status, field),
  )
}

function readDenied(world: World, field: PageField): Result<unknown> {
  const status = known(Number(world.settled('R17')))
  if (world.is('R69', 'origin-only')) return field === 'status' ? status : known(null)
  return readPageField(world, status, field)
}

export function readStatusField(world: World, field: PageField): Result<unknown> {
  return bind<string, unknown>(readOutcome(world), (outcome) => {
    if (outcome === 'refused') return known(null)
    if (outcome === 'denied') return readDenied(world, field)
    if (outcome === 'served') return readServed(world, field)
    return field === 'status' ? readRedirectStatus(world) : readLocation(world)
  })
}

type Algorithm = 'gzip' | 'br'

/** Whether type and size of the answer are such that it is compressed. */
function isFit(world: World, types: string[], minimum: number, unit: string): Cond {
  const { size } = world.facts
  return all(
    () =>
      map(readOriginHeader(world, 'content-type'), (text) => {
        const whole = lower(text ?? '')
        if (text === null) return false
        const type = world.is('R70', 'strip') ? (whole.split(';')[0] ?? '').trim() : whole
        return types.some((other) => lower(other) === type)
      }),
    () => {
      if (size === undefined) return unknown('not-given origin.size')
      const kilo = Number(world.reading('R29'))
      return known(size >= minimum * (unit === 'MB' ? kilo * kilo : kilo))
    },
  )
}

function isOfferedPlainly(world: World, algorithm: Algorithm): Cond {
  return bind(world.item('compress_response'), (value) => {
    if (value === null || !world.is('R73', algorithm)) return no
    return isFit(world, value.content_type, value.min_size, value.min_size_unit)
  })
}

function isOfferedSmartly(world: World, algorithm: Algorithm): Cond {
  return bind(world.item('smart_compression'), (value) => {
    if (value === null) return no
    const isGzip = algorithm === 'gzip'
    if (!value.compression_mode.split('&').includes(isGzip ? 'gzip' : 'brotli')) return no
    return isGzip
      ? isFit(
          world,
          value.gzip_content_type ?? [],
          value.gzip_compression_value ?? 0,
          value.gzip_compression_unit ?? 'KB',
        )
      : isFit(
          world,
          value.brotli_content_type ?? [],
          value.brotli_compression_value ?? 0,
          value.brotli_compression_unit ?? 'KB',
        )
  })
}

function isUsed(world: World, algorithm: Algorithm): Cond {
  const isSmartAlone = (): Cond =>
    all(
      () => map(world.item('smart_compression'), (value) => value !== null),
      known(world.is('R72', 'smart')),
    )
  return all(
    () =>
      some(
        () => isOfferedSmartly(world, algorithm),
        () =>
          all(
            () => isOfferedPlainly(world, algorithm),
            () => not(isSmartAlone()),
          ),
      ),
    () => {
      if (world.is('R71', 'always')) return yes
      return map(readAccessHeader(world, 'accept-encoding'), (text) =>
        acceptsCoding(text ?? '', algorithm),
      )
    },
  )
}

/** Whether `Accept-Encoding` names a coding with q above 0. */
function acceptsCoding(text: string, algorithm: Algorithm): boolean {
  return text.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (name !== algorithm) return false
    const quality = parameters
      .map((parameter) => /^q\s*=\s*([\d.]+)$/.exec(parameter)?.[1])
      .find((found) => found !== undefined)
    return quality === undefined || Number(quality) > 0
  })
}

function readCompression(world: World): Result<string> {
  const gzip = (): Cond => isUsed(world, 'gzip')
  return choose<string>(
    isUsed(world, 'br'),
    () => choose<string>(gzip(), known(world.reading('R74')), known('br')),
    () => choose<string>(gzip(), known('gzip'), known('none')),
  )
}

/** The time of day, `HH:ii`. */
function readTime(world: World): Result<string> {
  const { time, at } = world.facts
  if (time !== undefined) return known(time)
  if (at === undefined) return unknown('not-given time')
  return known(new Date(toLocal(at, readZone(world)) * 1000).toISOString().slice(11, 16))
}

type SpeedRule = Items['speed_limit'][number]

function matchSpeedRule(world: World, rule: SpeedRule, i: number): Cond {
  return matchPattern(world, {
    kind: rule.type,
    pattern: rule.pattern,
    ci: isInsensitive(world),
    where: `speed_limit/${i}/pattern`,
    source: seen,
    regexSubject: 'whole-url',
  })
}

function isInWindow(world: World, { begin_time, end_time }: SpeedRule): Cond {
  return map(readTime(world), (time) => {
    if (time === end_time) return world.is('R76', 'inside')
    return begin_time <= time && time < end_time
  })
}

function readSpeedLimit(world: World): Result<number | null> {
  return bind(world.item('speed_limit'), (rules) => {
    const candidates = (rules ?? [])
      .map((rule, i) => ({
        rule,
        match: all(
          () => matchSpeedRule(world, rule, i),
          () => isInWindow(world, rule),
        ),
        field: (): Result<number | null> => known(Math.ceil(Number(rule.speed) / 8)),
      }))
      .filter(({ match }) => !isNo(match))
    const way = candidates.length > 1 ? world.reading('R75') : 'first'
    if (way === 'last') candidates.reverse()
    if (way === 'lowest') candidates.sort((a, b) => Number(a.rule.speed) - Number(b.rule.speed))
    return firstMatch<number | null>(candidates, known(null))
  })
}

function readRateLimit(world: World): Result<unknown> {
  return map<Items['rate_limit'] | null, unknown>(world.item('rate_limit'), (value) => {
    if (value === null) return null
    const { max_rate_count, max_rate_unit = 'MB', leading_flow_unit = 'MB' } = value
    const { leading_flow_count: leading } = value
    return {
      rate: `${max_rate_count} ${max_rate_unit}`,
      after: leading === undefined ? null : `${leading} ${leading_flow_unit}`,
    }
  })
}

function readDrag(world: World): Cond {
  return bind(world.item('video_drag'), (value) => {
    if (value === null) return no
    const where = 'video_drag/url'
    return all(
      () =>
        matchPattern(world, {
          kind: 'regex',
          pattern: value.url,
          ci: isInsensitive(world),
          where,
          source: seen,
        }),
      () =>
        map(
          readSubject(world, seen, 'path', `undecidable ${where}`),
          (path) =>
            (path.endsWith('.mp4') && value.mp4 === 'on') ||
            (path.endsWith('.flv') && value.flv === 'on'),
        ),
      () =>
        map(seen.url(world), ({ query }) => {
          const names = new Set(listArguments(query).map(({ name }) => name))
          const [start, end] = [names.has(value.start), names.has(value.end)]
          const way = world.reading('R77')
          if (way === 'start') return start
          return way === 'either' ? start || end : start && end
        }),
    )
  })
}

/** Headers of responses. */
export function traceResponseHeaders(trace: Trace, names: string[]): Record<string, Answer> {
  return Object.fromEntries(
    names.map((name) => [name, report(trace, (world) => readResponse(world, name))]),
  )
}

export function traceResponse(trace: Trace): Record<string, unknown> {
  return {
    status: report(trace, (world) => readStatusField(world, 'status')),
    location: report(trace, (world) => readStatusField(world, 'location')),
    headers: traceResponseHeaders(trace, listResponseNames(trace)),
    otherHeaders: reportOthers(trace, ['add_response_head', 'head_control']),
    compression: report(trace, readCompression),
    speedLimit: report(trace, readSpeedLimit),
    rateLimit: report(trace, readRateLimit),
    drag: report(trace, readDrag),
  }
}
