import { parseAllDocuments, type Document, Lexer, type Tags } from 'yaml'
import type { Place } from '../../core/model/problem.ts'
import { findTextFault, inputLimits, tooDeep } from '../../core/model/input-limits.ts'
import type { YamlFault } from './yaml-json.ts'

/**
 * Parses a text into syntax trees, one per document: none if it is too deep or has too many marks.
 *
 * @param excess what `findYamlExcess` has found
 */
export function parseText(text: string, excess = findYamlExcess(text)): Document.Parsed[] {
  if (excess !== null) return []
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    strict: true,
    prettyErrors: false,
    intAsBigInt: true,
    // Its check takes quadratic time; convertToJson checks keys.
    uniqueKeys: false,
    customTags: (tags) => tags.map((tag) => keepWritten(tag, text)),
  })
  return [...parsed]
}

/** Makes scalars be printed as they are written; only further lines of one are indented anew. */
function keepWritten(tag: Tags[number], text: string): Tags[number] {
  if (typeof tag === 'string' || tag.collection !== undefined) return tag
  return {
    ...tag,
    stringify: (node, context, ...others) => {
      const [start, end] = node.range ?? []
      const written = node.range ? text.slice(start, end).replaceAll('\r\n', '\n') : '|'
      // Blanks at the begin of a line count in a block.
      const indent = /^[|>]/.test(written)
        ? /^>-?\n+( +)\S(?!.*\n +\n)/s.exec(written)?.[1]
        : written
      if (indent === undefined) return tag.stringify?.(node, context, ...others) ?? ''
      return written
        .trimEnd()
        .replace(
          /\n([ \t]*)(?=\S)/g,
          (_, blanks: string) => `\n${context.indent}${blanks.slice(indent.length)}`,
        )
    },
  }
}

/**
 * Finds the offset of each line of a text. The parser's own counter misses lines inside broken
 * text.
 */
export function findLineStarts(text: string): number[] {
  const starts = [0]
  for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', newline + 1))
    starts.push(newline + 1)
  return starts
}

/** Converts a range of offsets to a place, on its first line only. */
export function locateRange(
  file: string,
  text: string,
  lineStarts: number[],
  start: number,
  end: number,
): Place {
  const line = findLine(lineStarts, start)
  const lineStart = lineStarts[line - 1] ?? 0
  const nextLine = lineStarts[line]
  const lineEnd = nextLine === undefined ? text.length : nextLine - 1
  const last = Math.max(start, Math.min(end, lineEnd))
  const width = last - start - (last > start && text[last - 1] === '\r' ? 1 : 0)
  return {
    file,
    line,
    column: start - lineStart + 1,
    endLine: line,
    endColumn: start - lineStart + 1 + width,
  }
}

/** Returns the number, from 1, of the last line that starts at or before an offset. */
function findLine(lineStarts: number[], offset: number): number {
  let [low, high] = [0, lineStarts.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}

/** Token of the lexer before a scalar. */
const scalarStart = '\u001f'
/** Tokens of the lexer that stand for nothing: starts of documents and scalars, ends of errors. */
const silentTokens: readonly string[] = ['\u0002', '\u0018', scalarStart]

/** Lists the tokens of a text that stand for a part of it, each with its place. */
export function* listTokens(
  text: string,
): Generator<{ token: string; start: number; isScalar: boolean }> {
  let [start, isNext] = [0, false]
  for (const token of new Lexer().lex(text)) {
    const isScalar = isNext
    isNext = !isScalar && token === scalarStart
    if (!isScalar && silentTokens.includes(token)) continue
    yield { token, start, isScalar }
    start += token.length
  }
}

/**
 * Finds where a text of YAML is nested too deep, or has too many marks, without building a tree:
 * the parser takes minutes and gigabytes for either. Takes linear time, and ends at the fault.
 */
export function findYamlExcess(
  text: string,
  maxMarks: number = inputLimits.marks,
): YamlFault | null {
  /** Columns at which open lists and mappings of lines begin, from the outside. */
  const columns: number[] = []
  let [lineStart, flow, marks] = [0, 0, 0]
  let last = '\n'
  for (const { token, start, isScalar } of listTokens(text)) {
    if (++marks > maxMarks) return createFault(start, explainMarks(maxMarks))
    const excess = isScalar && !token.includes('\n') ? findTextFault(token) : null
    if (excess !== null) return createFault(start, excess)
    if (token === '---' || token === '...') columns.length = flow = 0
    const opens = !isScalar && (token === '[' || token === '{')
    if (flow === 0 && (isScalar || isContent(token, last))) {
      const column = start - lineStart
      while ((columns.at(-1) ?? -1) >= column) columns.pop()
      if (!opens) columns.push(column)
    }
    if (opens) flow++
    else if (!isScalar && (token === ']' || token === '}')) flow = Math.max(0, flow - 1)
    // In lines, the last column may be that of a plain value, which is no level.
    if (columns.length - (flow === 0 ? 1 : 0) + flow > inputLimits.levels)
      return createFault(start, tooDeep)
    if (!/^[ \t]/.test(token)) last = token
    const newline = token.lastIndexOf('\n')
    if (newline >= 0) lineStart = start + newline + 1
  }
  return null
}

/**
 * Tests whether a token begins a value, or a list or mapping, at its column.
 *
 * @param last the token before it, without blanks
 */
function isContent(token: string, last: string): boolean {
  if (token === ':') return /^(?:[:?-]|\r?\n)$/.test(last)
  return !/^(?:[ \t\r\n#,\]}!&%\u{feff}]|$)/u.test(token)
}

function explainMarks(max: number): string {
  return (
    `expected at most ${max} values, marks, blanks and line ends of YAML in a file, got more. ` +
    'Split the file.'
  )
}

function createFault(start: number, detail: string): YamlFault {
  return { start, end: start + 1, detail }
}
