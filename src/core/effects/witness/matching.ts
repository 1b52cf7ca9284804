import type { ItemKey, Value } from '../../model/item.ts'
import { explainUnknown, isUnknownValue } from '../../trace/candidates.ts'
import type { Settings } from '../../trace/readings.ts'
import type { Compiled } from '../../trace/trace.ts'
import { exploreUrls } from '../patterns/find-url.ts'
import { NoLanguage, settle, type Language } from '../patterns/languages.ts'
import type { Entry } from '../patterns/pattern.ts'
import type { Sides } from '../sides.ts'

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
  const [reason] = listDoubts(compiled, key)
  if (reason === undefined) return read(compiled, key)
  throw new NoLanguage(reason)
}

/** Lists why the value of an item is not known. */
export function listDoubts({ candidates, settings }: Compiled, key: ItemKey): readonly string[] {
  const values = candidates.get(key) ?? (settings.isTakenAsAbsent(key) ? [null] : [])
  if (values.length === 0) return [`unmanaged ${key}`]
  const unknown = values.find(isUnknownValue)
  if (unknown !== undefined) return explainUnknown(key, unknown).reasons
  return values.length > 1 ? [`in-doubt ${key}`] : []
}

/** A shortest URL of those that match the same patterns. */
interface Told {
  url: string
  /** Tests whether it matches any of some patterns. */
  matches(entries: readonly Entry[]): boolean
}

/**
 * Tells apart all URLs of the domain that patterns tell apart.
 *
 * @throws NoLanguage for what is in the way
 */
export function tellApart(sides: Sides, entries: readonly Entry[]): Told[] {
  const { settings } = sides.before
  return tellLanguages(
    sides,
    entries.flatMap((each) => each.languages(settings)),
  ).map(({ url, members }) => ({
    url,
    matches: (some) =>
      some.some((each) => each.languages(settings).some((language) => members.has(language))),
  }))
}

/** Tests whether every URL matches one of those patterns that can be decided. */
export function coverAll(sides: Sides, entries: readonly Entry[]): boolean {
  const { languages } = readLanguages(entries, sides.before.settings)
  return (
    languages.length > 0 && tellLanguages(sides, languages).every(({ members }) => members.size > 0)
  )
}

function tellLanguages({ domain, before: { settings } }: Sides, languages: readonly Language[]) {
  const space = settle(settings, 2)
  if (space === 'decoded') throw new NoLanguage('undecidable URL, which is decoded')
  const form = space === 'normalised' ? space : 'as-sent'
  const { urls, isComplete } = exploreUrls(domain, form, [...new Set(languages)])
  if (isComplete) return urls
  throw new NoLanguage('more than 10,000 states')
}

/** Reads the languages of the patterns that have some, and what is in the way of the others. */
export function readLanguages(
  entries: Iterable<Entry>,
  settings: Settings,
): { languages: Language[]; reasons: string[] } {
  const found: ReturnType<typeof readLanguages> = { languages: [], reasons: [] }
  for (const entry of entries)
    try {
      for (const each of entry.languages(settings)) found.languages.push(each)
    } catch (error) {
      if (!(error instanceof NoLanguage)) throw error
      found.reasons.push(error.reason)
    }
  return found
}
