import type { Json, JsonObject } from '../../../src/core/model/json.ts'
import { maybe, pickClue, type Draft } from './draft.ts'
import type { SignedUrl } from './build-url.ts'
import { drawAddress, drawAgent, drawReferer } from './client.ts'
import { buildOriginAnswer } from './origin-answer.ts'
import { formatInZone } from './sign.ts'
import { countries, headerValues, minutes } from './words.ts'

/** How a request is given. */
export interface RequestStyle {
  /** Probability that a fact is not given. */
  gaps: number
  zone: string
  signature: SignedUrl['truth'] | undefined
}

/** Builds the facts of a request from what the rules of the configuration speak about. */
export function buildRequest(draft: Draft, signed: SignedUrl, style: RequestStyle): JsonObject {
  const { chance, clues } = draft
  const { gaps } = style
  const given = <T extends Json>(make: () => T) => {
    const value = make()
    return chance.happens(gaps) ? undefined : value
  }
  const facts: Record<string, Json | undefined> = {
    url: signed.url,
    method: given(() => chance.pick(['GET', 'GET', 'GET', 'GET', 'POST', 'HEAD', 'PUT', 'get'])),
    headers: chance.happens(gaps / 3) ? undefined : buildHeaders(draft, gaps),
    ip: given(() => drawAddress(draft)),
    country: given(() => pickClue(chance, clues.countries, countries)),
    isp: given(() => chance.pick(['dx', 'lt', 'yd', 'other'])),
    at: given(() => formatInstant(draft, signed.at)),
    time: maybe(chance, 0.7 * (1 - gaps), () => drawTime(draft, signed.at, style.zone)),
    bodySize: given(() => drawBodySize(draft)),
    signature: style.signature ?? undefined,
    secrets: chance.happens(0.3 + gaps / 2) ? undefined : drawSecrets(draft),
    origin: chance.happens(gaps / 3) ? undefined : buildOriginAnswer(draft, signed.at, gaps),
  }
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact]])),
  )
}

function formatInstant({ chance }: Draft, at: number): Json {
  if (chance.happens(0.6)) return at
  const utc = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', '')
  return chance.pick([
    `${utc(at)}Z`,
    `${utc(at + 8 * 3600)}+08:00`,
    `${utc(at - 5 * 3600)}-05:00`,
    `${utc(at)}.999Z`,
  ])
}

/** Draws a time of day at a limit, a minute beside it, or that of the instant. */
function drawTime({ chance, clues }: Draft, at: number, zone: string): string {
  if (chance.happens(0.3)) return formatInZone(at, zone).slice(3).join(':')
  const [hour = 0, minute = 0] = pickClue(chance, clues.times, minutes).split(':').map(Number)
  const total = (hour * 60 + minute + chance.pick([0, 0, -1, 1, 5]) + 1440) % 1440
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(Math.floor(total / 60))}:${two(total % 60)}`
}

function drawBodySize({ chance, clues }: Draft): number {
  const limit = pickClue(chance, clues.uploads, [1])
  const exact = limit * chance.pick([1024, 1000]) ** 2
  return chance.pick([0, exact, exact + 1, exact - 1, Math.round(exact * 1.02), 500])
}

function drawSecrets({ chance, clues }: Draft): JsonObject | undefined {
  const all: Record<string, string> = { token: 't0k', storage: 'st0re', ...clues.secrets }
  const names = chance.some(Object.keys(all), 0.7)
  const secrets = names.map((name): [string, string] => [name, all[name] ?? ''])
  return secrets.length === 0 ? undefined : Object.fromEntries(secrets)
}

function buildHeaders(draft: Draft, gaps: number): JsonObject {
  const { chance, clues } = draft
  const headers: JsonObject = {}
  const give = (name: string, missing: number, make: () => string) => {
    const value = make()
    if (chance.happens(gaps)) return
    if (chance.happens(missing)) headers[name] = null
    else headers[name] = value
  }
  give('referer', 0.12, () => drawReferer(draft))
  give('user-agent', 0.08, () => drawAgent(draft))
  give('accept-encoding', 0.08, () => chance.pick(encodings))
  for (const name of clues.realIpHeaders.slice(0, 2))
    give(name.toLowerCase(), 0.1, () =>
      chance.pick([drawAddress(draft), drawAddress(draft), '192.0.2.9, 10.0.0.1', 'unknown', '']),
    )
  for (const name of chance.some([...new Set(clues.headers.map((each) => each.toLowerCase()))])) {
    if (!Object.hasOwn(headers, name)) give(name, 0.2, () => chance.pick(headerValues))
  }
  if (!chance.happens(gaps)) headers['*'] = null
  return headers
}

const encodings = [
  'gzip',
  'gzip, br',
  'gzip, deflate, br',
  'br',
  'identity',
  '',
  'br;q=0, gzip',
  'gzip;q=0.5,br;q=1',
  'GZIP',
  'gzip; q=0',
  'br;q=0.000',
  'x-gzip',
  '*',
]
