import { inputLimits, tooDeep } from '../input-limits.ts'
import { formatPointerStep, parseJson, type Json } from '../json.ts'

/** Why and where a text is not JSON. The reason is a clause, and quotes nothing of the text. */
export interface JsonFault {
  at: number
  reason: string
  /** Whether it is nested too deep; the rest of the text is not scanned. */
  isTooDeep?: true
}

/** Offsets of a value, and of its key in an object. Of a list or an object, only of its bracket. */
export interface JsonPlace {
  key: [start: number, end: number] | null
  value: [start: number, end: number]
}

/** Results of the scan of a JSON text, in offsets. */
export interface JsonScan {
  /** The first fault; null if the text is JSON. */
  fault: JsonFault | null
  /** Keys that an object has had before. */
  duplicates: [start: number, end: number][]
  /** Places of the wanted pointers. */
  places: Map<string, JsonPlace>
  /** Of a series: where each text after the first begins. */
  starts: number[]
}

/** An open list or object. */
interface Frame {
  isList: boolean
  /** Index of the entry, or the current key. */
  step: number | string
  keys: Set<string>
  key: [start: number, end: number] | null
}

const maxDuplicates = 200
const nowhere: ReadonlySet<string> = new Set()
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const expectations = {
  value: 'a value',
  key: 'a key in double quotes',
  colon: '":"',
  comma: '"," or the end of the list or object',
}

/**
 * Scans a JSON text for what its parser does not tell: the place of a fault, keys that occur twice,
 * and places of values. Works without recursion.
 *
 * @param wanted JSON pointers to locate
 * @param isSeries whether JSON texts may follow one another, as if they were entries of a list
 */
export function scanJson(text: string, wanted = nowhere, isSeries = false): JsonScan {
  const scan: Omit<JsonScan, 'fault'> = { duplicates: [], places: new Map(), starts: [] }
  const [stack, outside]: [Frame[], number] = isSeries ? [[openFrame(true)], 1] : [[], 0]
  let expected: keyof typeof expectations = 'value'
  let [isFirst, at] = [false, 0]
  const end = (fault: JsonFault | null): JsonScan => ({ ...scan, fault })
  const locate = (start: number, stop: number) => {
    if (wanted.size === 0) return
    const pointer = stack.map(({ step }) => formatPointerStep(step)).join('')
    const value: JsonPlace['value'] = [start, stop]
    if (wanted.has(pointer)) scan.places.set(pointer, { key: stack.at(-1)?.key ?? null, value })
  }
  for (;;) {
    at = skipBlanks(text, at)
    const [frame, character] = [stack.at(-1), text[at]]
    if (expected === 'comma' && stack.length === outside) {
      if (character === undefined) return end(null)
      if (!isSeries) return end({ at, reason: 'expected one value, got more' })
      scan.starts.push(at)
      expected = 'value'
      if (typeof frame?.step === 'number') frame.step++
    }
    const closes = frame !== undefined && character === (frame.isList ? ']' : '}')
    if (closes && (expected === 'comma' || isFirst)) {
      stack.pop()
      at++
      expected = 'comma'
    } else if (expected === 'comma' && character === ',' && frame !== undefined) {
      if (typeof frame.step === 'number') frame.step++
      at++
      expected = frame.isList ? 'value' : 'key'
    } else if (expected === 'colon' && character === ':') {
      at++
      expected = 'value'
    } else if (expected === 'key' && character === '"' && frame !== undefined) {
      const stop = findTextEnd(text, at)
      if (typeof stop !== 'number') return end(stop)
      const isDuplicate = enterKey(frame, JSON.parse(text.slice(at, stop)) as string, [at, stop])
      if (isDuplicate && scan.duplicates.length < maxDuplicates) scan.duplicates.push([at, stop])
      at = stop
      expected = 'colon'
    } else if (expected === 'value' && (character === '[' || character === '{')) {
      locate(at, at + 1)
      if (stack.length - outside >= inputLimits.levels)
        return end({ at, reason: tooDeep, isTooDeep: true })
      stack.push(openFrame(character === '['))
      at++
      expected = character === '[' ? 'value' : 'key'
      isFirst = true
      continue
    } else if (expected === 'value') {
      const stop = character === '"' ? findTextEnd(text, at) : findScalarEnd(text, at)
      if (typeof stop !== 'number') return end(stop)
      locate(at, stop)
      at = stop
      expected = 'comma'
    } else return end(createFault(text, at, expectations[expected]))
    isFirst = false
  }
}

/** Parses a JSON text, or as a list several that follow one another; undefined with a fault. */
export function parseJsonTexts(text: string): JsonScan & { data: Json | undefined } {
  const scan = scanJson(text, nowhere, true)
  const { fault, starts } = scan
  if (fault !== null) return { ...scan, data: undefined }
  if (starts.length === 0) return { ...scan, data: parseJson(text) }
  const texts = [0, ...starts].map((start, i) => text.slice(start, starts[i]))
  return { ...scan, data: texts.map((each) => parseJson(each) ?? null) }
}

function openFrame(isList: boolean): Frame {
  return { isList, step: isList ? 0 : '', keys: new Set(), key: null }
}

/** Enters the value of a key of an object, and returns whether the object has had the key. */
function enterKey(frame: Frame, key: string, place: [start: number, end: number]): boolean {
  const isDuplicate = frame.keys.has(key)
  frame.keys.add(key)
  frame.step = key
  frame.key = place
  return isDuplicate
}

function skipBlanks(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

function findScalarEnd(text: string, at: number): number | JsonFault {
  scalar.lastIndex = at
  return scalar.test(text) ? scalar.lastIndex : createFault(text, at, expectations.value)
}

/** Finds the end of a text in double quotes. */
function findTextEnd(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20) return { at, reason: 'expected the end of the text, got a control character' }
    if (code === 0x22) {
      const stop = at + 1
      return hasHalfPair(text.slice(start, stop))
        ? { at: start, reason: 'half of a surrogate pair is no character' }
        : stop
    }
    if (code !== 0x5c) continue
    const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
    escape.lastIndex = at
    if (!escape.test(text)) return { at, reason: 'expected an escape of JSON after "\\"' }
    at = escape.lastIndex - 1
  }
  return createFault(text, text.length, 'the end of the text')
}

function hasHalfPair(quoted: string): boolean {
  return /\\u[dD][89a-fA-F]/.test(quoted) && /\p{Surrogate}/u.test(JSON.parse(quoted) as string)
}

function createFault(text: string, at: number, expected: string): JsonFault {
  const character = text[at]
  const got =
    character === undefined
      ? ', got the end of the file'
      : character === '#' || /^\/[/*]/.test(text.slice(at, at + 2))
        ? ', got a comment'
        : ''
  return { at, reason: `expected ${expected}${got}` }
}
