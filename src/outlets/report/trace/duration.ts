import { isObject, type Json } from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { listAll, pluralize } from '../../../core/model/text/words.ts'

/** Units of cache rules with their seconds, the longest first. */
const units: [name: string, seconds: number, word: string][] = [
  ['Y', 31_536_000, 'year'],
  ['M', 2_628_000, 'month'],
  ['D', 86_400, 'day'],
  ['h', 3600, 'hour'],
  ['i', 60, 'minute'],
  ['s', 1, 'second'],
]

/** Formats a count of a unit of cache rules: `30 days`. */
export function formatCount(count: number, unit: string): string {
  return pluralize(count, units.find(([name]) => name === unit)?.[2] ?? unit)
}

/** Formats seconds in the longest unit in which they are a whole number: `30 days`. */
export function formatSeconds(seconds: number): string {
  const [name = 's', size = 1] =
    units.find(([, each]) => seconds >= each && seconds % each === 0) ?? []
  return formatCount(seconds / size, name)
}

/** Lists status codes by what is said of them: `404 and 5xx cached for 10 seconds`. */
export function listCodes(all: Iterable<[code: string, words: string]>): string[] {
  return Array.from(
    groupBy(all, ([, words]) => words),
    ([words, each]) => {
      const codes = each.map(([code]) => code).join(' ')
      const named = codes.replace('500 501 502 503 504 506', '5xx').split(' ')
      return `${listAll(named, 'and')} ${words}`
    },
  )
}

/** Lists for how long errors of the origin are cached. */
export function listErrorTimes(errorSeconds: Json | undefined): string[] {
  const all = Object.entries(isObject(errorSeconds) ? errorSeconds : {})
  return listCodes(all.map(([code, seconds]) => [code, describeCaching(Number(seconds))]))
}

/** Describes for how long an error is cached. */
export function describeCaching(seconds: number): string {
  return seconds === 0 ? 'not cached' : `cached for ${formatSeconds(seconds)}`
}
