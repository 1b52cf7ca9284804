import { isObject, type Json } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { anyPattern, type PatternForm } from '../effective.ts'
import { keepEntry, type Entry } from './pattern.ts'

/** Replaces the patterns of a form, of which any one must match together; `name`: their text. */
export function replacePatterns(
  form: Json,
  change: (name: string, entries: Entry[]) => Json,
): Json {
  if (Array.isArray(form)) return form.map((each) => replacePatterns(each, change))
  if (!isObject(form)) return form
  const patterns = form[anyPattern]
  if (patterns !== undefined) {
    const forms = patterns as unknown as PatternForm[]
    return change(canonicalizeJson(patterns), forms.map(keepEntry))
  }
  return Object.fromEntries(
    Object.entries(form).map(([name, each]) => [name, replacePatterns(each, change)]),
  )
}

/** Lists the patterns of a form, those of which any one must match together. */
export function listPatterns(form: Json): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>()
  replacePatterns(form, (name, entries) => {
    found.set(name, entries)
    return null
  })
  return found
}

/** Lists all patterns of a form. */
export function listEntries(form: Json | undefined): Entry[] {
  return [...listPatterns(form ?? null).values()].flat()
}
