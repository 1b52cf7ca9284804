import type { MarkedComment } from '../../core/checks/suppressions.ts'
import type { SourceFile } from './yaml-file.ts'
import { findLineStarts, locateRange, listTokens } from './yaml-text.ts'

const mark = 'edgewise:'

/**
 * Lists the comments of a file that begin with `# edgewise:`, each with the line that it is about.
 * Takes linear time, and no time for a file without that word.
 */
export function listMarkedComments({ path, text }: SourceFile): MarkedComment[] {
  if (!text.includes(mark)) return []
  const found = findComments(text).flatMap(({ start, end, document }) => {
    const content = text.slice(start, end).replace(/^#+/, '').trim()
    return content.startsWith(mark) ? [{ start, end, document, content }] : []
  })
  if (found.length === 0) return []
  const [lineStarts, targets] = [findLineStarts(text), findTargets(text)]
  return found.map(({ start, end, document, content }) => {
    const place = locateRange(path, text, lineStarts, start, end)
    const target = targets[place.line - 1] ?? null
    return { ...place, document, text: content.slice(mark.length).trim(), target }
  })
}

/** Finds all comments of a text of YAML, with the index of their document, from 0. */
export function findComments(text: string): { start: number; end: number; document: number }[] {
  const comments: ReturnType<typeof findComments> = []
  let [document, hasContent] = [0, false]
  for (const { token, start, isScalar } of listTokens(text)) {
    if (!isScalar && token === '---' && hasContent) document++
    if (isScalar || !/^(?:[\s#%\u{feff}]|$)/u.test(token)) hasContent = true
    if (!isScalar && token.startsWith('#'))
      comments.push({ start, end: start + token.length, document })
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
