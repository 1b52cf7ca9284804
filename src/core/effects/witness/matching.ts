import type { ItemKey, Value } from '../../model/item.ts'
import { isObject, type Json } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { isUnknownValue } from '../../trace/candidates.ts'
import type { Compiled } from '../../trace/trace.ts'
import { anyPattern, type PatternForm } from '../effective.ts'
import type { Sides } from '../sides.ts'
import { exploreUrls } from './explore.ts'
import { buildLanguages, NoLanguage, settle, type Language } from './languages.ts'

/** The first possible value of an item. */
export function read({ candidates }: Compiled, key: ItemKey): Value {
  return candidates.get(key)?.[0] ?? null
}

/**
 * The only value of an item, for proofs.
 *
 * @throws NoLanguage if it is in doubt or unmanaged
 */
export function readCertain(compiled: Compiled, key: ItemKey): Value {
  const { settings } = compiled
  const candidates = compiled.candidates.get(key) ?? (settings.isTakenAsAbsent(key) ? [null] : [])
  const [value = null] = candidates
  if (candidates.length === 1 && !isUnknownValue(value)) return value
  throw new NoLanguage(`${candidates.length === 0 ? 'unmanaged' : 'in-doubt'} ${key}`)
}

/** Tells apart all URLs of the domain that patterns tell apart. */
export function matchAll(
  { domain, before: { settings } }: Sides,
  patterns: PatternForm[],
): { urls: string[]; matches: (pattern: PatternForm, url: number) => boolean } {
  if (settle(settings, 2) === 'decoded') throw new NoLanguage('undecidable URL, which is decoded')
  const names = new Map<string, Language[]>()
  for (const pattern of patterns) {
    const name = nameOf(pattern)
    if (!names.has(name)) names.set(name, buildLanguages(pattern, settings))
  }
  const languages = [...names.values()].flat()
  const explored = exploreUrls(domain, languages)
  if (!explored.isComplete) throw new NoLanguage('more than 10,000 states')
  const places = new Map(
    [...names].map(([name, own]) => [name, own.map((each) => languages.indexOf(each))]),
  )
  return {
    urls: explored.urls.map(({ url }) => url),
    matches: (pattern, url) =>
      places.get(nameOf(pattern))?.some((i) => explored.urls[url]?.members[i] === true) === true,
  }
}

function nameOf(pattern: PatternForm): string {
  return canonicalizeJson(pattern as unknown as Json)
}

/** Replaces the patterns of a form, of which any one must match together; `name`: their text. */
export function replacePatterns(
  form: Json,
  change: (name: string, patterns: PatternForm[]) => Json,
): Json {
  if (Array.isArray(form)) return form.map((each) => replacePatterns(each, change))
  if (!isObject(form)) return form
  const patterns = form[anyPattern]
  if (patterns !== undefined)
    return change(canonicalizeJson(patterns), patterns as unknown as PatternForm[])
  return Object.fromEntries(
    Object.entries(form).map(([name, each]) => [name, replacePatterns(each, change)]),
  )
}

/** Lists the patterns of a form, those of which any one must match together. */
export function listPatterns(form: Json): Map<string, PatternForm[]> {
  const found = new Map<string, PatternForm[]>()
  replacePatterns(form, (name, patterns) => {
    found.set(name, patterns)
    return null
  })
  return found
}
