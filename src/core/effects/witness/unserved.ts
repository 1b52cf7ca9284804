import { catalogue } from '../../catalog/catalogue.ts'
import { isObject, type JsonObject, toList } from '../../model/json.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readEffective, type PatternForm } from '../effective.ts'
import type { Sides } from '../sides.ts'
import { buildLanguages, NoLanguage } from './languages.ts'
import { listPatterns, matchAll, readCertain } from './matching.ts'

/** Items that do nothing to a URL that their pattern does not match. */
const matchesOnly = new Set(['visit_timestamp', 'video_drag', 'user_agent', 'vendor_origin_auth'])

/** Tests whether no URL matches the pattern of an item, on both sides. */
export function neverMatches(sides: Sides, key: string): boolean {
  const isAlso = (text: string): PatternForm => ({
    kind: 'ext',
    text,
    folds: false,
    sees: 'W',
    extent: 'R4',
  })
  if (!matchesOnly.has(key)) return false
  return [sides.before, sides.after].every((side) => {
    const value = readCertain(side, key)
    const patterns = [...listPatterns(readEffective(key, value)).values()].flat()
    const videos = ['mp4', 'flv'].filter((name) => isObject(value) && value[name] === 'on')
    const suffixes = key === 'video_drag' ? videos.map(isAlso) : []
    const { urls, matches } = matchAll(sides, [...patterns, ...suffixes])
    const matchesSome = (list: PatternForm[], i: number) => list.some((each) => matches(each, i))
    return !urls.some(
      (_, i) => matchesSome(patterns, i) && (key !== 'video_drag' || matchesSome(suffixes, i)),
    )
  })
}

/** Tests whether all answers of an item are null while a request is denied. */
export function needsServing({ before: { settings } }: Sides, part: string): boolean {
  if (part === 'cache') return true
  const stages = catalogue.get(part)?.stages ?? []
  const isLate = stages.every((stage) => ['cache', 'origin', 'response'].includes(stage))
  return isLate && (part !== 'error_page_rewrite' || settings.answers[69] === 'origin-only')
}

/** Tests whether both sides deny every URL, whatever else a request has. */
export function isNeverServed(sides: Sides): boolean {
  return [sides.before, sides.after].every((side) => {
    const { settings } = side
    if (readCertain(side, 'visit_deny_whitelist') !== null && settings.answers[18] !== 'anti-leech')
      return false
    if (deniesSchemes(side)) return true
    const form = readEffective('combined_ban', readCertain(side, 'combined_ban'))
    const bans = toList(form).flatMap((ban) => {
      const [one, ...others] = Object.values(isObject(ban) ? ban : {})
      const isPlain = others.length === 0 && isObject(one) && one['isMatch'] === 'yes'
      return isPlain ? [one] : []
    })
    // A text that is bound to an end and empty is in all texts, and in the absent header.
    const isAny = settings.answers[22] === 'anchor' && settings.answers[20] === 'alike'
    const hasAny = ({ list }: JsonObject) =>
      Array.isArray(list) && ['^', '$', ''].some((each) => list.includes(each))
    if (isAny && bans.some(hasAny)) return true
    const denied = [
      readEffective('deny_url', readCertain(side, 'deny_url')),
      ...bans.map(({ url }) => url ?? null),
    ]
    return denied.some((each) => coversAll(sides, [...listPatterns(each).values()].flat()))
  })
}

/** Tests whether http is denied and https refused, or https denied and http redirected. */
function deniesSchemes(side: Compiled): boolean {
  const denied = readCertain(side, 'deny_protocol')
  const https = readCertain(side, 'https')
  const isAvailable = readEffective('https', https) !== null
  if (!isObject(denied)) return false
  if (denied['protocol'] === 'http') return !isAvailable
  const isForced = isObject(https) && [301, 302].includes(Number(https['force_https']))
  return denied['protocol'] === 'https' && isAvailable && isForced
}

/** Tests whether every URL matches one of those patterns that can be decided. */
function coversAll(sides: Sides, patterns: PatternForm[]): boolean {
  const isDecidable = (pattern: PatternForm) => {
    try {
      return buildLanguages(pattern, sides.before.settings).length > 0
    } catch (error) {
      if (error instanceof NoLanguage) return false
      throw error
    }
  }
  const decidable = patterns.filter(isDecidable)
  if (decidable.length === 0) return false
  try {
    const { urls, matches } = matchAll(sides, decidable)
    return urls.every((_, i) => decidable.some((each) => matches(each, i)))
  } catch (error) {
    if (error instanceof NoLanguage) return false
    throw error
  }
}
