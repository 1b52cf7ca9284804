import type { ItemKey, Value } from '../../model/item.ts'
import { isObject, toList, type Json } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readEffective } from '../effective.ts'
import { exploreUrls, findUrl } from '../patterns/find-url.ts'
import { listEntries } from '../patterns/list-patterns.ts'
import type { Entry } from '../patterns/pattern.ts'
import type { Sides } from '../sides.ts'
import { signPath } from './facts.ts'
import { read, readLanguages } from './matching.ts'
import { sampleMatches } from './sample.ts'

/** URLs that the patterns of some items tell apart, and patterns that could not be read. */
export interface PatternUrls {
  urls: string[]
  reasons: string[]
}

/** Finds URLs that the patterns of some items tell apart, on both sides; the shortest first. */
export function listPatternUrls(sides: Sides, keys: readonly ItemKey[]): PatternUrls {
  const { languages, reasons } = readLanguages(listOwn(sides, keys), sides.before.settings)
  const { urls, isComplete } = exploreUrls(sides.domain, 'as-sent', [...new Set(languages)])
  if (!isComplete) reasons.push('more than 10,000 states')
  return { urls: urls.map(({ url }) => url), reasons }
}

/** Lists for each pattern of some items a shortest URL that it matches. */
export function* listSimpleUrls(sides: Sides, keys: readonly ItemKey[]): Iterable<string> {
  for (const entry of listOwn(sides, keys))
    for (const language of readLanguages([entry], sides.before.settings).languages) {
      const wanted = { must: [[language]], never: [] }
      const url = findUrl(sides.domain, 'as-sent', wanted, { states: Infinity })
      if (typeof url === 'string') yield url
    }
}

/** The patterns of some items on both sides; those of rules that only one side has come first. */
function* listOwn({ before, after }: Sides, keys: readonly ItemKey[]): Iterable<Entry> {
  const seen = new Set<Entry>()
  for (const isShared of [false, true])
    for (const key of keys) {
      const [left, right] = [before, after].map((side) => nameRules(read(side, key)))
      for (const [name, rule] of [...(right ?? []), ...(left ?? [])]) {
        if ((left?.has(name) && right?.has(name)) !== isShared) continue
        for (const entry of listEntries(readEffective(key, rule))) {
          if (!seen.has(entry)) yield entry
          seen.add(entry)
        }
      }
    }
}

/** The rules of an item, each as a value, by their texts. */
function nameRules(value: Value): Map<string, Value> {
  const rules = Array.isArray(value) ? value.map((each) => [each]) : [value]
  return new Map(rules.map((rule) => [canonicalizeJson(rule), rule]))
}

/** Lists URLs of samples of expressions, and exempt ones. */
export function listSampleUrls(sides: Sides, keys: readonly ItemKey[]): string[] {
  const start = `https://${sides.domain.startsWith('.') ? 'a' : ''}${sides.domain}`
  const exempt = [sides.before, sides.after].flatMap((side) =>
    keys.includes('visit_deny_whitelist')
      ? toList(readEffective('visit_deny_whitelist', read(side, 'visit_deny_whitelist')))
      : [],
  )
  const texts = [...listOwn(sides, keys)].flatMap(({ form: { kind, text } }) =>
    kind === 'regex' ? [text, ...sampleMatches(text)] : [],
  )
  const urls = [...texts, ...exempt.map(String)].map((text) => {
    if (/^https?:\/\//.test(text)) return text
    return `${start}${text.startsWith('/') ? '' : '/'}${text.replaceAll('*', 'x')}`
  })
  return [...new Set(urls)]
}

/** A URL with other schemes, ports, arguments, and signed in the way of each side. */
export function varyUrl(url: string, sides: Sides, keys: readonly ItemKey[]): string[] {
  const [, scheme = '', rest = ''] = /^(\w+):\/\/(.*)$/.exec(url) ?? []
  const other = `${scheme === 'https' ? 'http' : 'https'}://${rest}`
  const slash = rest.indexOf('/')
  const [host, path] = [rest.slice(0, slash), rest.slice(slash)]
  const values = keys.flatMap((key) => [read(sides.before, key), read(sides.after, key)])
  const names = [...new Set(values.flatMap(listArguments))]
  const all = names.map((name, i) => `${name}=${i + 1}`).join('&')
  const queries = names.length > 8 ? [all] : [all, ...names.map((name) => `${name}=1`)]
  const extended = [...queries, 'zz=1', ''].map(
    (query) => `${url}${url.includes('?') ? '&' : '?'}${query}`,
  )
  const signed = [
    path,
    ...extended.slice(0, 1).map((each) => each.slice(scheme.length + 3 + slash)),
  ].flatMap((each) => [sides.before, sides.after].flatMap((side) => listSigned(each, side)))
  const ported = `${scheme}://${host}:8080${path}`
  const signedUrls = signed.map((each) => `${scheme}://${host}${each}`)
  return [...new Set([url, other, ...extended, ...signedUrls, ported])]
}

function listSigned(path: string, side: Compiled): string[] {
  const value = read(side, 'visit_timestamp')
  const { answers, timezone } = side.settings
  const zone = typeof answers[31] === 'string' && answers[31] !== 'service' ? answers[31] : timezone
  return isObject(value) ? signPath(path, value, zone ?? 'UTC') : []
}

/** Names of arguments that a value speaks of. */
function listArguments(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(listArguments)
  if (!isObject(value)) return []
  const { params, start, end } = value
  const names = typeof params === 'string' ? params.split(',').map((name) => name.trim()) : []
  return [...names, ...[start, end].filter((name) => typeof name === 'string')]
}
