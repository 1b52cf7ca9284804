import { parseAllDocuments, type Document } from 'yaml'
import type { Place } from '../model/problem.ts'

/** Parses a text into syntax trees, one per document. */
export function parseText(text: string): Document.Parsed[] {
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    strict: true,
    prettyErrors: false,
    intAsBigInt: true,
    // Its check takes quadratic time; convertToJson checks keys.
    uniqueKeys: false,
  })
  return [...parsed]
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
