import { describeValue } from '../../core/catalog/value/schema-problems.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import type { ItemKey } from '../../core/model/item.ts'
import {
  formatPointerStep,
  getOwn,
  isObject,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import { listSome } from '../../core/model/text/words.ts'

/** The keys of a manifest and of a profile, in their canonical order. */
export const documentKeys = {
  manifest: ['domain', 'domains', 'owners', 'except', 'profiles', 'vars', 'config'],
  profile: ['profile', 'profiles', 'vars', 'config'],
}

/** Reports a problem at a pointer of a document. */
export type Report = (pointer: string, detail: string, part?: 'key') => void

/**
 * Reports the unknown keys of a document, and once each group of items outside of "config".
 *
 * @returns the document without the items under other keys
 */
export function checkKeys(
  value: JsonObject,
  kind: keyof typeof documentKeys,
  report: Report,
): JsonObject {
  const keys = documentKeys[kind]
  const beside = Object.keys(value).filter((key) => catalogue.has(key))
  const [first] = beside
  if (first !== undefined)
    report(formatPointerStep(first), explainBeside(beside, getOwn(value, 'config')), 'key')
  for (const key of Object.keys(value)) {
    const pointer = formatPointerStep(key)
    if (catalogue.has(key)) continue
    if (kind === 'profile' && (key === 'domain' || key === 'domains'))
      report(
        pointer,
        `a profile can't have "${key}". Write "profiles: [NAME]" for "profile" if this is a ` +
          'manifest, or remove this key.',
        'key',
      )
    else if (!keys.includes(key))
      report(
        pointer,
        `there is no key "${key}" in a ${kind}.${suggestKey(key, value[key] ?? null, keys)}`,
        'key',
      )
  }
  return takeItemsOut(value, report)
}

/** Returns the list at a key of a document, empty without one; reports anything else. */
export function parseList(value: JsonObject, key: string, what: string, report: Report): Json[] {
  const list = getOwn(value, key) ?? []
  if (Array.isArray(list)) return list
  const hint = typeof list === 'string' ? `. Write "[${list}]".` : ''
  report(`/${key}`, `expected a list of ${what}, got ${describeValue(list)}${hint}`)
  return []
}

function explainBeside(items: ItemKey[], config: Json | undefined): string {
  const [subject, noun, them] = describe(items)
  if (config === undefined)
    return (
      `forgot "config:"? ${subject} ${noun}. ` +
      `Write "config:" above, and indent ${them} below it.`
    )
  return config === null
    ? `${subject} ${noun} of "config:". Indent ${them} by two spaces.`
    : `${subject} ${noun} and ${belong(items)} under "config:". Move ${them} there.`
}

/** Reports items under other keys than "config", and returns the document without them. */
function takeItemsOut(value: JsonObject, report: Report): JsonObject {
  const entries = Object.entries(value).map(([key, content]): [string, Json] => {
    if (key === 'config' || catalogue.has(key) || !isObject(content)) return [key, content]
    // A variable may have the name of an item.
    const items = Object.keys(content).filter(
      (name) => catalogue.has(name) && typeof content[name] === 'object',
    )
    const [first] = items
    if (first === undefined || !isDocumentKey(key)) return [key, content]
    const [subject, noun] = describe(items)
    report(
      formatPointerStep(key) + formatPointerStep(first),
      `${subject} ${noun} and ${belong(items)} under "config:", not under "${key}:".`,
      'key',
    )
    const others = Object.entries(content).filter(([name]) => !items.includes(name))
    return [key, others.length === 0 && key !== 'vars' ? [] : Object.fromEntries(others)]
  })
  return Object.fromEntries(entries)
}

/** Tests whether a manifest or a profile has a key. */
export function isDocumentKey(key: string): boolean {
  return Object.values(documentKeys).some((keys) => keys.includes(key))
}

function describe(items: ItemKey[]): [subject: string, noun: string, pronoun: string] {
  return items.length === 1
    ? [`"${items[0] ?? ''}"`, 'is an item', 'it']
    : [listSome(items), 'are items', 'them']
}

function belong(items: ItemKey[]): string {
  return items.length === 1 ? 'belongs' : 'belong'
}

function suggestKey(key: string, value: Json, keys: string[]): string {
  const hasItems = isObject(value) && Object.keys(value).some((name) => catalogue.has(name))
  if (hasItems) return ' Did you mean "config"?'
  const hint = didYouMean(key, keys)
  if (hint !== '') return hint
  const item = didYouMean(key, catalogue.keys())
  return item === ''
    ? ` Known keys: ${keys.join(', ')}.`
    : `${item} It is an item and belongs under "config:".`
}
