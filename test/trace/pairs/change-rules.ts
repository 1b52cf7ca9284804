import { getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../../src/core/catalog/parse-item.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import type { Chance } from '../../simulation/chance.ts'
import { buildPair, type Pair } from './pair.ts'

/** Puts a list into another order. */
export function shuffle<T>(list: readonly T[], chance: Chance): T[] {
  const rest = [...list]
  return list.flatMap(() => rest.splice(chance.between(0, rest.length - 1), 1))
}

/** Changes each value that an item may have. */
export function changeValues(
  items: Pair['items'],
  change: (name: string, value: Json) => Json,
): Pair['items'] {
  return Object.fromEntries(
    Object.entries(items).map(([name, candidates]) => [
      name,
      candidates.map((each) =>
        each === null || isSameJson(each, { $unknown: true }) ? each : change(name, each),
      ),
    ]),
  )
}

/** Puts the entries of lists of which one suffices into another order. */
export function reorder(items: Pair['items'], chance: Chance): Pair['items'] {
  const lists = (value: Json): Json =>
    isObject(value) && Array.isArray(value['list'])
      ? { ...value, list: shuffle(value['list'], chance) }
      : value
  return changeValues(items, (name, value) => {
    if (name === 'combined_ban' && Array.isArray(value))
      return shuffle(value, chance).map((ban) => changeFields(ban, 'configs', lists))
    if (name === 'visit_deny_whitelist' && Array.isArray(value)) return shuffle(value, chance)
    if (name.startsWith('cache_rule') && Array.isArray(value))
      return value.map((rule) => (isRegex(rule) ? rule : shuffleText(rule, 'pattern', ',', chance)))
    if (name === 'deny_url' && isObject(value) && Array.isArray(value['urls']))
      return { ...value, urls: shuffle(value['urls'], chance) }
    if (name === 'user_agent') return shuffleText(value, 'ua_list', '\n', chance)
    if (name === 'visit_areas_limit') return shuffleText(value, 'country_list', ',', chance)
    return /^(ip_.*_list|referer)$/.test(name) ? lists(value) : value
  })
}

function changeFields(value: Json, name: string, change: (field: Json) => Json): Json {
  if (!isObject(value) || !isObject(value[name] ?? null)) return value
  const fields = Object.entries(value[name] as JsonObject)
  return { ...value, [name]: Object.fromEntries(fields.map(([key, each]) => [key, change(each)])) }
}

function isRegex(rule: Json): boolean {
  return isObject(rule) && (rule['type'] === 4 || rule['match_method'] === 'regex')
}

function shuffleText(value: Json, field: string, separator: string, chance: Chance): Json {
  if (!isObject(value) || typeof value[field] !== 'string') return value
  return { ...value, [field]: shuffle(value[field].split(separator), chance).join(separator) }
}

/** What more entries of a list can't change: that its check denies, or that a check passes. */
export type Kept = 'deny' | 'pass'

/**
 * Adds entries of another configuration to a list; null if the item is no list that is known, or an
 * empty one, which is absent.
 */
export function addEntries(pair: Pair, name: string, chance: Chance): [Pair, Kept] | null {
  const candidates = pair.items[name] ?? []
  const [value = null] = candidates
  const donors = ['a', 'b', 'c', 'd'].map((each) => {
    const seed = chance.fork(each).between(0, 2 ** 31)
    return buildPair(seed, 'managed').items[name]?.[0] ?? null
  })
  const donor = donors.find((each) => each !== null) ?? null
  const raw = candidates.length === 1 ? joinEntries(value, donor, chance.happens(0.5)) : null
  const joined = raw === null ? null : parseItem(getItemSpec(name), raw, 'manifest').value
  if (joined === null) return null
  return [{ ...pair, items: { ...pair.items, [name]: [joined] } }, findKept(name, value)]
}

function findKept(name: string, value: Json): Kept {
  if (Array.isArray(value) || !isObject(value)) return name === 'combined_ban' ? 'deny' : 'pass'
  const { type, limit_type: limit, ua_type: agents } = value
  const isBlack = [type, limit, agents].some((each) => each === 1 || each === 'black')
  return isBlack || name === 'ip_black_list' || name === 'deny_url' ? 'deny' : 'pass'
}

/** Joins the entries of two values of an item; null if they have no list. */
function joinEntries(value: Json, donor: Json, isFirst: boolean): Json {
  const join = <T>(a: T[], b: T[]) => (isFirst ? [...b, ...a] : [...a, ...b])
  if (Array.isArray(value) && Array.isArray(donor)) return join(value, donor)
  if (!isObject(value) || !isObject(donor)) return null
  for (const [name, separator] of Object.entries({ ua_list: '\n', country_list: ',' })) {
    const [own, other] = [value[name], donor[name]]
    if (typeof own === 'string' && typeof other === 'string')
      return { ...value, [name]: join([own], [other]).join(separator) }
  }
  for (const name of ['list', 'urls']) {
    const [own, other] = [value[name], donor[name]]
    if (!Array.isArray(own) || !Array.isArray(other) || own.length === 0) continue
    const added = other.filter((entry) => !own.some((each) => isSameJson(each, entry)))
    return { ...value, [name]: join(own, added) }
  }
  return null
}

/** Lists of which the first entry that matches decides, and that swapping may concern. */
const firstMatch = ['cache_rule', 'cache_rule_list', 'source_url_rewrite', 'speed_limit']

/** A place in a list whose entry and the next one may be swapped. */
export interface Place {
  name: string
  i: number
}

/** Lists the places in lists that are known. */
export function listPlaces({ items }: Pair): Place[] {
  return firstMatch.flatMap((name) => {
    const [value = null, ...others] = items[name] ?? []
    const count = Array.isArray(value) && others.length === 0 ? value.length - 1 : 0
    return Array.from({ length: Math.max(0, count) }, (_, i) => ({ name, i }))
  })
}

/** Swaps an entry and the next one. */
export function swap(pair: Pair, { name, i }: Place): Pair {
  const [value = null] = pair.items[name] ?? []
  if (!Array.isArray(value)) return pair
  const list = value.toSpliced(i, 2, ...value.slice(i, i + 2).toReversed())
  return { ...pair, items: { ...pair.items, [name]: [list] } }
}

/** Adds an entry that matches the request to some lists that are set, so that one decides. */
export function addMatching(pair: Pair, chance: Chance): Pair {
  const [, path = '/'] = /^[^/]*\/\/[^/?#]*([^#]+)/.exec(String(pair.request['url'])) ?? []
  const matching: JsonObject = {
    deny_url: '.*',
    combined_ban: { configs: { url: { list: ['.*'], is_match: 'yes', case_insensitive: 'no' } } },
    source_url_rewrite: { origin_url: '.*', target_url: '/rewritten' },
    visit_deny_whitelist: { url: path, turn_on: true },
  }
  const items = changeValues(pair.items, (name, value) => {
    const entry = matching[name]
    if (entry === undefined) return value
    const add = (list: Json[]) => (chance.happens(0.7) ? [...list, entry] : [entry, ...list])
    if (Array.isArray(value)) return add(value)
    const urls = isObject(value) ? value['urls'] : null
    return isObject(value) && Array.isArray(urls) ? { ...value, urls: add(urls) } : value
  })
  return { ...pair, items }
}
