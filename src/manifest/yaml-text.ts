import { parseAllDocuments, type Document } from 'yaml'
import type { Place } from '../model/problem.ts'

/** The syntax trees of a text, one a document. */
export function parseText(text: string): Document.Parsed[] {
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    strict: true,
    prettyErrors: false,
    intAsBigInt: true,
    // Its check takes quadratic time; jsonOf does it.
    uniqueKeys: false,
  })
  return [...parsed]
}

/** Where each line of a text begins. The parser's own counter misses lines inside broken text. */
export function findLineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The place of a range of offsets, as far as its first line goes. */
export function locateRange(
  file: string,
  text: string,
  lineStarts: number[],
  start: number,
  end: number,
): Place {
  const line = lineAt(lineStarts, start)
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

/** The number, from 1, of the last line that begins at or before an offset. */
function lineAt(lineStarts: number[], offset: number): number {
  let [low, high] = [0, lineStarts.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}
