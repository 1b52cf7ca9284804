import {
  COLLECTION_STYLE_BLOCK,
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_DOUBLE_QUOTED,
  SCALAR_STYLE_PLAIN,
  SCALAR_STYLE_SINGLE_QUOTED,
  YAMLException,
  type Event,
  type ScalarEvent,
} from 'js-yaml'
import { findTextFault } from '../../core/model/input-limits.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { reservedKeys } from './yaml-json.ts'

/** Levels of nesting that no limit of manifests forbids. */
const maxDepth = 60
/** Maximum length of a key; the parser `yaml` refuses keys of more than 1,024 characters. */
const maxKey = 500

/** Characters and lines on which parsers may differ. */
const unusual = new RegExp(
  [
    // Tabs, carriage returns, other blanks, control and rare characters.
    /[^\n -~\u00a1-\u167f\u3001-\ud7ff]/,
    // Directives, ends of documents, markers that are indented or have text.
    /^(?: *(?:%|\.\.\.)| +---|---(?!\n))/,
    // Complex keys, anchors, aliases and tags.
    /(?:^|[ [{,])(?:\?(?:[ \n]|$)|[&*!])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'm',
)

/** A plain scalar that is not always text: null, true, false or a number, in any notation. */
const special = new RegExp(
  [
    /^(?:~|null|true|false|[-+]?\.(?:inf|nan)|0[ox][\da-f]+)$/,
    /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)
/** A number that every parser of YAML reads alike, if it is written as it is printed. */
const plainNumber = /^-?\d{1,15}$|^\d{1,9}\.\d{1,6}$/

/** An escape other than those of JSON's short forms. */
const oddEscape = /\\(?:[^"\\/nrt]|$)/

/**
 * Parses a text in the part of YAML that is read alike by all parsers, several times as fast as
 * `parseText`; null for any other text, valid or not. It has the same values as `parseYaml`, which
 * the tests compare. Use `parseYaml`, which tries this first.
 *
 * @returns the value of each document, which is a mapping
 */
export function parsePlainYaml(text: string): JsonObject[] | null {
  if (unusual.test(text) || (/^ *[\]},:]/m.test(text) && /^#/m.test(text))) return null
  let events: Event[]
  try {
    events = parseEvents(text, { maxDepth })
  } catch (error) {
    if (error instanceof YAMLException) return null
    throw error
  }
  const conversion: Conversion = { text, events, next: 0, isOdd: false }
  const documents: JsonObject[] = []
  while (conversion.next < events.length && !conversion.isOdd) {
    const event = events[conversion.next++]
    if (event?.type !== EVENT_DOCUMENT || event.directives.length > 0) return null
    const start = events[conversion.next]
    if (start?.type !== EVENT_MAPPING || (start.start > 0 && text[start.start - 1] !== '\n'))
      return null
    const root = convertNext(conversion)
    if (!isObject(root) || events[conversion.next++]?.type !== EVENT_POP) return null
    documents.push(root)
  }
  return conversion.isOdd || documents.length === 0 ? null : documents
}

interface Conversion {
  text: string
  events: Event[]
  /** Index of the next event. */
  next: number
  /** Whether something was met that parsers may read differently; the values are of no use then. */
  isOdd: boolean
}

function convertMap(conversion: Conversion, isBlock: boolean): JsonObject {
  const map: JsonObject = {}
  while (hasNext(conversion)) {
    const event = conversion.events[conversion.next]
    const key = convertNext(conversion)
    const start = conversion.events[conversion.next]
    const value = convertNext(conversion)
    const isPlain =
      event?.type === EVENT_SCALAR &&
      typeof key === 'string' &&
      isPlainKey(event, key) &&
      !Object.hasOwn(map, key) &&
      (!isBlock || beginsLine(conversion.text, event)) &&
      !hasOddComment(conversion.text, event, start, isBlock)
    if (isPlain) map[key] = value
    else conversion.isOdd = true
  }
  conversion.next++
  return map
}

/** Tests whether the mapping or list that is being converted has another part. */
function hasNext({ events, next }: Conversion): boolean {
  return next < events.length && events[next]?.type !== EVENT_POP
}

function isPlainKey({ style, valueStart, valueEnd }: ScalarEvent, key: string): boolean {
  const hasColon = style === SCALAR_STYLE_PLAIN && key.includes(':')
  return !hasColon && valueEnd - valueStart <= maxKey && key !== '<<' && !reservedKeys.has(key)
}

function convertList(conversion: Conversion, isBlock: boolean): Json[] {
  const list: Json[] = []
  while (hasNext(conversion)) {
    const start = conversion.events[conversion.next]
    if (isBlock && !followsDash(conversion.text, start)) conversion.isOdd = true
    list.push(convertNext(conversion))
  }
  conversion.next++
  return list
}

function convertNext(conversion: Conversion): Json {
  const event = conversion.events[conversion.next++]
  if (
    event === undefined ||
    !('tagStart' in event) ||
    event.tagStart >= 0 ||
    event.anchorStart >= 0
  ) {
    conversion.isOdd = true
    return null
  }
  if (event.type === EVENT_MAPPING)
    return convertMap(conversion, event.style === COLLECTION_STYLE_BLOCK)
  if (event.type === EVENT_SEQUENCE)
    return convertList(conversion, event.style === COLLECTION_STYLE_BLOCK)
  const value = convertScalar(event, conversion.text)
  if (value !== undefined) return value
  conversion.isOdd = true
  return null
}

/** Converts a scalar; undefined if parsers may read it differently, or its text is not shown. */
function convertScalar(scalar: ScalarEvent, text: string): Json | undefined {
  const { style, valueStart, valueEnd, fast } = scalar
  if (valueStart < 0) return undefined
  if (style === SCALAR_STYLE_PLAIN)
    return fast ? resolvePlain(text.slice(valueStart, valueEnd)) : undefined
  if (style !== SCALAR_STYLE_DOUBLE_QUOTED && style !== SCALAR_STYLE_SINGLE_QUOTED) return undefined
  const source = text.slice(valueStart, valueEnd)
  if (findTextFault(source) !== null) return undefined
  if (fast) return source
  const isOdd =
    source.includes('\n') || (style === SCALAR_STYLE_DOUBLE_QUOTED && oddEscape.test(source))
  return isOdd ? undefined : getScalarValue(text, scalar)
}

function resolvePlain(source: string): Json | undefined {
  if (findTextFault(source) !== null) return undefined
  if (!special.test(source)) return source
  if (source === 'true') return true
  if (source === 'false') return false
  if (source === 'null' || source === '~') return null
  return plainNumber.test(source) && String(Number(source)) === source ? Number(source) : undefined
}

/** Tests whether only blanks and dashes are before a scalar in its line. */
function beginsLine(text: string, { style, valueStart }: ScalarEvent): boolean {
  let before = valueStart - (style === SCALAR_STYLE_PLAIN ? 1 : 2)
  while (before >= 0 && (text[before] === ' ' || text[before] === '-')) before--
  return before < 0 || text[before] === '\n'
}

/**
 * Tests whether a comment that parsers read in different ways is between a key and its value:
 * before the colon in flow style, or at the begin of a line.
 */
function hasOddComment(
  text: string,
  key: ScalarEvent,
  value: Event | undefined,
  isBlock: boolean,
): boolean {
  const start = findStart(value)
  if (start < 0 || (isBlock && isBlockCollection(value))) return false
  const between = text.slice(key.valueEnd, start)
  return between.includes(isBlock ? '\n#' : '#')
}

/** Finds where a value starts; -1 for an empty one. */
function findStart(value: Event | undefined): number {
  if (value === undefined) return -1
  if ('valueStart' in value)
    return value.style === SCALAR_STYLE_PLAIN ? value.valueStart : value.valueStart - 1
  return 'start' in value ? value.start : -1
}

function isBlockCollection(value: Event | undefined): boolean {
  return value !== undefined && 'start' in value && value.style === COLLECTION_STYLE_BLOCK
}

/** Tests whether an entry of a list in block style is in the line of its dash. */
function followsDash(text: string, entry: Event | undefined): boolean {
  const start = findStart(entry)
  return (
    start < 0 ||
    isBlockCollection(entry) ||
    /- *$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))
  )
}
