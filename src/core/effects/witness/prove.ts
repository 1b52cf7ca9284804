import { sortUnique } from '../../catalog/value/canonical.ts'
import type { ItemKey } from '../../model/item.ts'
import { isObject, type Json, toList } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readEffective } from '../effective.ts'
import type { Sides } from '../sides.ts'
import { NoLanguage } from '../patterns/languages.ts'
import { listPatterns, replacePatterns } from '../patterns/list-patterns.ts'
import type { Entry } from '../patterns/pattern.ts'
import { read, tellApart } from './matching.ts'
import type { Proof, Proven } from './proof.ts'
import { proveRules } from './prove-rules.ts'
import { isUnread, reduceCovered } from './unread.ts'
import { isNeverServed, needsServing, neverMatches } from './unserved.ts'

const strength: Proof[] = ['identical', 'ineffective', 'reordered', 'covered', 'automaton']

/**
 * Proves that no request tells the two sides apart, if items that differ have one known value on
 * each. Never proves what is not so; what it can't prove may still be so.
 */
export function proveEqual(sides: Sides): Proven {
  const parts = new Set(sides.changed.map((key) => (isCacheRule(key) ? 'cache' : key)))
  const found = [...parts].map((part) => provePart(sides, part))
  const missing = found.filter((each) => 'reasons' in each)
  if (missing.length > 0)
    return {
      reasons: missing.flatMap(({ reasons }) => reasons),
      urls: missing.flatMap(({ urls }) => urls),
    }
  const hasOtherNetworks = (['ip_black_list', 'ip_white_list'] as const).some((key) =>
    isOtherSet(sides, key),
  )
  const proofs: Proof[] = [
    isIdentical(sides) ? 'identical' : 'ineffective',
    ...(hasOtherNetworks ? (['covered'] as const) : []),
    ...found.flatMap((each) => ('proof' in each ? [each.proof] : [])),
  ]
  return { proof: strength.findLast((each) => proofs.includes(each)) ?? 'identical' }
}

function isCacheRule(key: ItemKey): boolean {
  return key === 'cache_rule' || key === 'cache_rule_list'
}

function isIdentical({ before, after }: Sides): boolean {
  const write = ({ candidates }: Compiled) =>
    canonicalizeJson(Object.fromEntries([...candidates].map(([key, values]) => [key, [...values]])))
  return write(before) === write(after)
}

/** Tests whether a list has other networks, although perhaps of the same addresses. */
function isOtherSet(sides: Sides, key: ItemKey): boolean {
  if (sides.changed.includes(key)) return false
  return JSON.stringify(read(sides.before, key)) !== JSON.stringify(read(sides.after, key))
}

/** Proves it of an item, or of both items of cache rules. */
function provePart(sides: Sides, part: string): Proven {
  const found = attempt<Proven>(() => proveValues(sides, part))
  if ('proof' in found) return found
  const ways = [
    () => isUnread(sides, part),
    () => neverMatches(sides, part),
    () => needsServing(sides, part) && isNeverServed(sides),
  ]
  return ways.some((way) => attempt(way) === true) ? { proof: 'ineffective' } : found
}

function proveValues(sides: Sides, part: string): Proven {
  if (part === 'cache') return proveRules(sides, ['cache_rule', 'cache_rule_list'])
  const isList = part === 'speed_limit' || part === 'source_url_rewrite'
  return isList ? proveRules(sides, [part]) : proveForms(sides, part)
}

/** Runs a proof; if it can't be run, what is in its way. */
function attempt<T>(run: () => T): T | { reasons: string[]; urls: string[] } {
  try {
    return run()
  } catch (error) {
    if (error instanceof NoLanguage) return { reasons: [error.reason], urls: [] }
    throw error
  }
}

/** Compares two forms in which patterns with equal languages are equal. */
function proveForms(sides: Sides, key: string): Proven {
  const { settings } = sides.before
  const [before, after] = [sides.before, sides.after].map((side) =>
    reduceCovered(key, readEffective(key, read(side, key)), settings),
  )
  const isSame = (a: Json, b: Json) => canonicalizeJson(a) === canonicalizeJson(b)
  if (before === undefined || after === undefined) return { reasons: [], urls: [] }
  if (isSame(before, after)) return { proof: 'covered' }
  const [left, right] = [listPatterns(before), listPatterns(after)]
  const isShared = (each: string) => left.has(each) && right.has(each)
  const own = [...left, ...right].filter(([name]) => !isShared(name))
  if (own.length === 0) return { reasons: [], urls: [] }
  const urls = tellApart(
    sides,
    own.flatMap(([, entries]) => entries),
  )
  const write = (entries: Entry[]) => urls.map(({ matches }) => Number(matches(entries))).join('')
  const rewrite = (form: Json): Json =>
    replacePatterns(form, (name, entries) => (isShared(name) ? name : write(entries)))
  const tidy = (form: Json) => {
    if (Array.isArray(form) && key === 'combined_ban') return sortUnique(form.map(dropSure))
    return key === 'head_control' ? dropDead(form) : form
  }
  if (isSame(tidy(rewrite(before)), tidy(rewrite(after)))) return { proof: 'automaton' }
  return { reasons: [], urls: [] }
}

/** Leaves out the condition of a ban that every URL fulfils. */
function dropSure(ban: Json): Json {
  if (!isObject(ban) || !isObject(ban['url'])) return ban
  const { url, ...others } = ban
  const { isMatch, url: matched } = isObject(url) ? url : {}
  const isSure = (isMatch === 'no' ? /^0+$/ : /^1+$/).test(String(matched))
  return isSure ? others : ban
}

/** Leaves out the header rules that match no URL. */
function dropDead(form: Json): Json {
  const alive = Object.entries(isObject(form) ? form : {}).map(([name, rules]) => {
    const list = toList(rules).flatMap((rule) => (isObject(rule) ? [rule] : []))
    return [name, list.filter(({ at }) => typeof at !== 'string' || !/^0+$/.test(at))] as const
  })
  const kept = alive.filter(([, rules]) => rules.length > 0)
  return kept.length === 0 ? null : Object.fromEntries(kept)
}
