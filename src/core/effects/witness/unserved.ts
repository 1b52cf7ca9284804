import { catalogue } from '../../catalog/catalogue.ts'
import type { Value } from '../../model/item.ts'
import { isObject, type JsonObject, toList } from '../../model/json.ts'
import { readEffective } from '../effective.ts'
import { listEntries, listPatterns } from '../patterns/list-patterns.ts'
import type { Sides } from '../sides.ts'
import { coverAll, readCertain, tellApart } from './matching.ts'

/** Items that do nothing to a URL that their pattern does not match. */
const matchesOnly = new Set(['visit_timestamp', 'video_drag', 'user_agent', 'vendor_origin_auth'])

/** Tests whether no URL matches the patterns of an item, on both sides. */
export function neverMatches(sides: Sides, key: string): boolean {
  if (!matchesOnly.has(key)) return false
  return [sides.before, sides.after].every((side) => {
    const groups = [...listPatterns(readEffective(key, readCertain(side, key))).values()]
    const urls = tellApart(sides, groups.flat())
    return groups.length === 0 || !urls.some(({ matches }) => groups.every(matches))
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
    if (denySchemes(readCertain(side, 'deny_protocol'), readCertain(side, 'https')) !== null)
      return true
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
    return denied.some((each) => coverAll(sides, listEntries(each)))
  })
}

/** Tells how no scheme is served: https is refused, or http redirected, and the other denied. */
export function denySchemes(deny: Value, https: Value): 'refused' | 'redirected' | null {
  const protocol = isObject(deny) ? deny['protocol'] : null
  if (readEffective('https', https) === null) return protocol === 'http' ? 'refused' : null
  const isForced = isObject(https) && Number(https['force_https'] ?? 0) > 0
  return isForced && protocol === 'https' ? 'redirected' : null
}
