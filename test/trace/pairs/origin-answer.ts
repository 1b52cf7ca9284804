import type { JsonObject } from '../../../src/core/model/json.ts'
import { pickClue, type Draft } from './draft.ts'
import { contentTypes, headerValues } from './words.ts'

/** Builds the answer of the origin, from the codes, types and sizes of the rules. */
export function buildOriginAnswer(draft: Draft, at: number, gaps: number): JsonObject {
  const { chance } = draft
  const answer: JsonObject = {}
  if (!chance.happens(gaps)) answer['status'] = drawStatus(draft)
  if (!chance.happens(gaps / 2)) answer['headers'] = buildHeaders(draft, at, gaps)
  if (!chance.happens(gaps)) answer['size'] = drawSize(draft)
  return answer
}

function drawStatus({ chance, clues }: Draft): number {
  if (chance.happens(0.45)) return chance.pick([200, 200, 200, 206])
  return pickClue(chance, clues.statuses, [200, 206, 301, 302, 304, 404, 410, 500, 503, 505, 506])
}

function drawSize({ chance, clues }: Draft): number {
  const [count, unit] = pickClue(chance, clues.sizes, [[1, 'KB'] as [number, string]])
  const base = chance.pick([1024, 1000])
  const exact = count * (unit === 'MB' ? base ** 2 : base)
  const sizes = [exact, exact, exact + 1, exact - 1, Math.round(exact * 1.01), 5000, 500, 10 ** 9]
  return Math.max(0, chance.pick(sizes))
}

function buildHeaders({ chance, clues }: Draft, at: number, gaps: number): JsonObject {
  const headers: JsonObject = {}
  const give = (name: string, share: number, make: () => string) => {
    const [value, isGiven, isAbsent] = [make(), chance.happens(share), chance.happens(0.4)]
    if (isGiven && !chance.happens(gaps / 2)) headers[name] = value
    else if (isAbsent) headers[name] = null
  }
  give('content-type', 0.85, () => {
    const type = pickClue(chance, clues.contentTypes, contentTypes)
    const forms = [type, type, type.toUpperCase(), `${type}; charset=utf-8`, `${type};x`, '']
    return chance.pick([...forms, type, type])
  })
  give('cache-control', 0.6, () => chance.pick(cacheControls))
  give('expires', 0.3, () => chance.pick([...drawDates(at, [60, 0, -60, 86_400]), '0', '-1']))
  give('date', 0.4, () => chance.pick([...drawDates(at, [0]), ...drawDates(at, [0, 1]), 'soon']))
  give('pragma', 0.2, () => chance.pick(['no-cache', 'No-Cache', 'x', 'no-cache, x']))
  const shared = [...new Set(clues.headers.map((each) => each.toLowerCase()))]
  for (const name of chance.some(shared)) {
    if (!Object.hasOwn(headers, name)) give(name, 0.7, () => chance.pick(headerValues))
  }
  if (!chance.happens(gaps)) headers['*'] = null
  return headers
}

const cacheControls = [
  'max-age=5',
  'max-age=60',
  'public, max-age=60',
  'no-cache',
  'no-store',
  'private',
  's-maxage=30, max-age=5',
  's-maxage=0',
  'max-age=0',
  'MAX-AGE=5',
  'private, max-age=60',
  'max-age="5"',
  'max-age=abc',
  'no-cache="set-cookie"',
  'max-age=5, max-age=9',
  '',
  'no-store,no-cache',
  'must-revalidate',
  'x-no-store',
  'max-age=5;no-cache',
  'No-Cache',
  'max-age=5, s-maxage=0',
  'max-age=99999999999',
  's-maxage=abc, max-age=7',
  'max-age=-1',
]

/** Formats instants beside this one in the forms of HTTP, the usual one most often. */
function drawDates(at: number, distances: number[]): string[] {
  return distances.flatMap((distance) => {
    const usual = new Date((at + distance) * 1000).toUTCString()
    const [weekday = '', day = '', month = '', year = '', time = ''] = usual.split(' ')
    const name = weekdays.find((each) => each.startsWith(weekday.slice(0, 3))) ?? ''
    return [usual, usual, usual, `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`]
  })
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
