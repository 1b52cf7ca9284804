import type { ItemKey } from '../../model/item.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readEffective, type PatternForm } from '../effective.ts'
import type { Sides } from '../sides.ts'
import { exploreUrls } from './explore.ts'
import { signPath } from './facts.ts'
import { buildLanguages, NoLanguage, type Language } from './languages.ts'
import { listPatterns, read } from './matching.ts'
import { sampleMatches } from './sample.ts'

/** URLs that the patterns of some items tell apart, and patterns that could not be read. */
export interface PatternUrls {
  urls: string[]
  reasons: string[]
}

/** Finds URLs that the patterns of some items tell apart, on both sides; the shortest first. */
export function listPatternUrls(sides: Sides, keys: readonly ItemKey[]): PatternUrls {
  const patterns = new Map<string, PatternForm>()
  for (const side of [sides.before, sides.after])
    for (const key of keys)
      for (const list of listPatterns(readEffective(key, read(side, key))).values())
        for (const each of list) patterns.set(JSON.stringify(each), each)
  for (const text of keys.includes('video_drag') ? ['mp4', 'flv'] : [])
    patterns.set(text, { kind: 'ext', text, folds: false, sees: 'W', extent: 'R4' })
  const reasons: string[] = []
  const languages: Language[] = []
  for (const pattern of patterns.values())
    try {
      for (const each of buildLanguages(pattern, sides.before.settings)) languages.push(each)
    } catch (error) {
      if (!(error instanceof NoLanguage)) throw error
      reasons.push(error.reason)
    }
  const { urls, isComplete } = exploreUrls(sides.domain, languages)
  if (!isComplete) reasons.push('more than 10,000 states')
  return { urls: urls.map(({ url }) => url), reasons }
}

/** Lists for each pattern of some items a shortest URL that it matches. */
export function* listSimpleUrls(sides: Sides, keys: readonly ItemKey[]): Iterable<string> {
  const tried = new Set<string>()
  for (const side of [sides.after, sides.before])
    for (const key of keys)
      for (const pattern of [
        ...listPatterns(readEffective(key, read(side, key))).values(),
      ].flat()) {
        const name = JSON.stringify(pattern)
        if (tried.has(name)) continue
        tried.add(name)
        for (const language of readLanguages(pattern, sides)) {
          const { urls } = exploreUrls(sides.domain, [language])
          const member = urls.find(({ members }) => members[0] === true)
          if (member !== undefined) yield member.url
        }
      }
}

function readLanguages(pattern: PatternForm, { before: { settings } }: Sides): Language[] {
  try {
    return buildLanguages(pattern, settings)
  } catch (error) {
    if (!(error instanceof NoLanguage)) throw error
    return []
  }
}

/** Lists URLs of samples of expressions, exempt URLs and literal ones. */
export function listSampleUrls(sides: Sides, keys: readonly ItemKey[]): string[] {
  const start = `https://${sides.domain.startsWith('.') ? 'a' : ''}${sides.domain}`
  const found: string[] = []
  for (const key of keys)
    for (const value of [read(sides.before, key), read(sides.after, key)])
      for (const text of listTexts(key, value))
        for (const sample of [text, ...sampleMatches(text)]) {
          if (/^https?:\/\//.test(sample)) found.push(sample)
          else
            found.push(`${start}${sample.startsWith('/') ? '' : '/'}${sample.replaceAll('*', 'x')}`)
        }
  return [...new Set(found)]
}

const named = ['pattern', 'url', 'origin_url', 'regex', 'url_pattern']

/** Lists the texts of patterns of a value: of fields with their names, and lists of URLs. */
function listTexts(key: ItemKey, value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => listTexts(key, each))
  if (typeof value === 'string' && key === 'deny_url') return [value]
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => {
    if (named.includes(name) && typeof each === 'string') return each.split(',')
    if (name === 'url' && isObject(each) && Array.isArray(each['list']))
      return each['list'].filter((text) => typeof text === 'string')
    return typeof each === 'string' && name !== 'urls' ? [] : listTexts(key, each)
  })
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
