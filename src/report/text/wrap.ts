import { measureWidth, splitGraphemes } from './display-width.ts'

/** What a reader may want to copy and has blanks in it. */
const whole = /"[^"]*"|\b(?:edgewise|git) [a-z]+ [^\s,;)]+/g

/**
 * Text in lines of at most `columns` columns, each beginning with the indent. Lines break at
 * blanks, and within a word only where it is longer than a line. Line ends stay, and what a line is
 * set in by stays for what it is broken into. Colour is put on afterwards.
 */
export function wrap(text: string, columns: number, indent: string): string {
  const room = Math.max(1, columns - measureWidth(indent))
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, room))
    .map((line) => (line === '' ? '' : indent + line))
    .join('\n')
}

/**
 * Sentences in lines of at most `columns` columns; what a line is broken into is set in by two.
 * What a reader may want to copy stays whole, in a longer line if need be: what stands in quotes, a
 * command, a path.
 */
export function wrapSentences(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => sentenceLines(line, columns))
    .join('\n')
}

/** A line that fits; what is cut is marked. */
export function truncate(line: string, columns: number): string {
  if (measureWidth(line) <= columns) return line.trimEnd()
  let kept = ''
  let used = 0
  for (const character of line) {
    used += measureWidth(character)
    if (used > columns - 1) break
    kept += character
  }
  return `${kept}…`
}

function wrapLine(line: string, room: number): string[] {
  const words = line.trimStart()
  const setIn = ' '.repeat(Math.min(line.length - words.length, Math.floor(room / 2)))
  return wrapWords(words, room - setIn.length).map((each) => (setIn + each).trimEnd())
}

function sentenceLines(line: string, columns: number): string[] {
  if (measureWidth(line) <= columns) return [line]
  const words = line.trimStart()
  const setIn = ' '.repeat(line.length - words.length)
  // Made visible, a text has no such character.
  const joined = words.replace(whole, (found) => found.replaceAll(' ', '\0'))
  const [first = '', ...rest] = joined.split(' ').map((word) => word.replaceAll('\0', ' '))
  const lines = [setIn + first]
  for (const word of rest) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (measureWidth(longer) <= columns) lines[lines.length - 1] = longer
    else if (word !== '') lines.push(`${setIn}  ${word}`)
  }
  return lines
}

function wrapWords(text: string, room: number): string[] {
  const lines: string[] = []
  let current = ''
  let width = 0
  for (const word of text.split(' ')) {
    const wordWidth = measureWidth(word)
    if (current !== '' && width + 1 + wordWidth <= room) {
      current += ` ${word}`
      width += 1 + wordWidth
      continue
    }
    if (current !== '') lines.push(current)
    const pieces = wordWidth <= room ? [word] : broken(word, room)
    lines.push(...pieces.slice(0, -1))
    current = pieces.at(-1) ?? ''
    width = measureWidth(current)
  }
  return [...lines, current]
}

function broken(word: string, room: number): string[] {
  const pieces = ['']
  let width = 0
  for (const grapheme of splitGraphemes(word)) {
    const more = measureWidth(grapheme)
    if (width > 0 && width + more > room) {
      pieces.push('')
      width = 0
    }
    pieces[pieces.length - 1] += grapheme
    width += more
  }
  return pieces
}
