import { Lexer } from 'yaml'
import type { MarkedComment } from '../../core/checks/suppressions.ts'
import type { SourceFile } from './yaml-file.ts'
import { findLineStarts, locateRange, scalarStart, silentTokens } from './yaml-text.ts'

const mark = 'edgewise:'

/**
 * Lists the comments of a file that begin with `# edgewise:`, each with the line that it is about.
 * Takes linear time, and no time for a file without that word.
 */
export function listMarkedComments({ path, text }: SourceFile): MarkedComment[] {
  if (!text.includes(mark)) return []
  const comments: MarkedComment[] = []
  let lineStarts: number[] | undefined
  let targets: (number | null)[] | undefined
  let [at, document, isScalar, hasContent] = [0, 0, false, false]
  for (const token of new Lexer().lex(text)) {
    const wasScalar = isScalar
    isScalar = !wasScalar && token === scalarStart
    if (!wasScalar && silentTokens.includes(token)) continue
    const start = at
    at += token.length
    const isComment = !wasScalar && token.startsWith('#')
    if (!wasScalar && token === '---' && hasContent) document++
    if (wasScalar || !/^(?:[\s#%\u{feff}]|$)/u.test(token)) hasContent = true
    const content = isComment ? token.replace(/^#+/, '').trim() : ''
    if (!content.startsWith(mark)) continue
    lineStarts ??= findLineStarts(text)
    targets ??= findTargets(text)
    const place = locateRange(path, text, lineStarts, start, at)
    const target = targets[place.line - 1] ?? null
    comments.push({ ...place, document, text: content.slice(mark.length).trim(), target })
  }
  return comments
}

/**
 * Finds for each line the line that a comment in it is about: itself if it has more than the
 * comment, else the first such line directly below.
 */
function findTargets(text: string): (number | null)[] {
  const lines = text.split('\n')
  const targets = Array.from<number | null>({ length: lines.length }).fill(null)
  let below: number | null = null
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = (lines[i] ?? '').trim()
    // The rule of a dash may begin in the line below.
    const isBare = /^(?:-\s*)?#/.test(line) || line === '-'
    if (line === '' || line === '---') below = null
    else if (!isBare) below = i + 1
    targets[i] = below
  }
  return targets
}
