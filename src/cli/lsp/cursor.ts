import { isMap, isScalar, isSeq, type Document, type Node } from 'yaml'
import { parseText } from '../../manifest/yaml/yaml-text.ts'

/** What stands at an offset of a file: a key or a value, and the way to it in its document. */
export interface Spot {
  document: Document.Parsed
  /** Index of the document in the file. */
  index: number
  /** Keys and indexes from the root of the document. */
  steps: string[]
  part: 'key' | 'value'
  /** Its range in the text. */
  start: number
  end: number
  /** The value of a scalar, or the key. */
  text: string
}

/** Finds the key or the scalar at an offset, also in a file with errors; null between them. */
export function findSpot(text: string, offset: number): Spot | null {
  for (const [index, document] of parseText(text).entries()) {
    const found = findIn(document.contents, offset, [])
    if (found !== null) return { document, index, ...found }
  }
  return null
}

type Found = Omit<Spot, 'document' | 'index'>

function findIn(node: Node | null, offset: number, steps: string[]): Found | null {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue
      const inner = [...steps, String(key.value)]
      const found =
        findScalar(key, offset, inner, 'key') ?? findIn(value as Node | null, offset, inner)
      if (found !== null) return found
    }
    return null
  }
  if (isSeq(node)) {
    for (const [i, entry] of node.items.entries()) {
      const found = findIn(entry as Node | null, offset, [...steps, String(i)])
      if (found !== null) return found
    }
    return null
  }
  return isScalar(node) ? findScalar(node, offset, steps, 'value') : null
}

function findScalar(node: Node, offset: number, steps: string[], part: Spot['part']): Found | null {
  const [start, end] = node.range ?? [0, -1]
  if (!isScalar(node) || offset < start || offset > end) return null
  return { steps, part, start, end, text: String(node.value) }
}

/** Where a text is typed: the keys above it, and what of it there is. */
export interface Typing {
  /** Keys from the root of the document; `*` for an entry of a list. */
  steps: string[]
  /** A key of the mapping at `steps`, or the value at `steps`. */
  kind: 'key' | 'value'
  typed: string
  /** First and last line of the document, from 0. */
  firstLine: number
}

/** Maximum number of lines above that are searched for keys. */
const maxAbove = 20_000

/**
 * Finds what is typed at the end of a text by its indentation: while somebody types, a file is
 * rarely valid YAML.
 *
 * @param before the text of a file up to the cursor
 */
export function findTyping(before: string): Typing {
  const lines = before.split('\n')
  const last = parseLine(lines.at(-1) ?? '')
  const above: string[] = []
  let [column, isEntry] = [last.keyColumn, last.isEntry]
  if (isEntry) [column] = [last.column]
  if (isEntry) above.unshift('*')
  let at = lines.length - 2
  const lowest = Math.max(0, at - maxAbove)
  for (; at >= lowest; at--) {
    const line = lines[at] ?? ''
    if (/^---(?:\s|$)/.test(line)) break
    if (/^\s*(?:#|$)/.test(line)) continue
    const { column: begin, keyColumn, isEntry: isListed, key } = parseLine(line)
    if (key !== null && (keyColumn < column || (isEntry && keyColumn === column))) {
      above.unshift(key)
      ;[column, isEntry] = [keyColumn, false]
    }
    if (isListed && begin < column) {
      above.unshift('*')
      ;[column, isEntry] = [begin, true]
    }
  }
  const { steps, kind, typed } = readContent(last.content)
  return { steps: [...above, ...steps], kind, typed, firstLine: at + 1 }
}

const keyPattern = /^(?:"([^"]*)"|'([^']*)'|([\w.$/-]+))\s*:(?=\s|$)\s*/

function parseLine(line: string) {
  const [head = '', blanks = '', dashes = ''] = /^(\s*)((?:- +)*(?:-$)?)/.exec(line) ?? []
  const content = line.slice(head.length)
  const [whole = null, ...names] = keyPattern.exec(content) ?? []
  const key = whole === null ? null : (names.find((name) => name !== undefined) ?? '')
  return {
    column: blanks.length,
    keyColumn: head.length,
    isEntry: dashes !== '',
    content,
    key,
  }
}

/** Reads what a line has after its indentation: a key, or a value, perhaps in braces. */
function readContent(content: string): Omit<Typing, 'firstLine'> {
  const [whole = null, ...names] = keyPattern.exec(content) ?? []
  const key = names.find((name) => name !== undefined)
  if (whole === null || key === undefined) {
    return /^[[{]/.test(content) ? readFlow(content) : { steps: [], kind: 'key', typed: content }
  }
  const { steps, kind, typed } = readFlow(content.slice(whole.length))
  return { steps: [key, ...steps], kind, typed }
}

/** Reads a value up to the cursor: within its open braces and brackets, or a plain one. */
function readFlow(text: string): Omit<Typing, 'firstLine'> {
  const open: { isMap: boolean; key: string | null }[] = []
  let typed = ''
  let quote = ''
  for (const character of text) {
    const top = open.at(-1)
    if (quote !== '') {
      if (character === quote) quote = ''
      typed += character
    } else if (typed.trim() === '' && (character === '"' || character === "'")) {
      quote = character
      typed = character
    } else if (character === '{' && !typed.endsWith('$')) {
      open.push({ isMap: true, key: null })
      typed = ''
    } else if (character === '[') {
      open.push({ isMap: false, key: null })
      typed = ''
    } else if (top !== undefined && (character === '}' || character === ']')) {
      open.pop()
      typed = ''
    } else if (top !== undefined && character === ',') {
      top.key = null
      typed = ''
    } else if (top?.isMap === true && top.key === null && character === ':') {
      top.key = typed.trim().replaceAll(/["']/g, '')
      typed = ''
    } else typed += character
  }
  const steps = open.flatMap(({ isMap: isMapping, key }) => (isMapping ? (key ?? []) : '*'))
  const top = open.at(-1)
  return {
    steps,
    kind: top?.isMap === true && top.key === null ? 'key' : 'value',
    typed: typed.trimStart(),
  }
}
