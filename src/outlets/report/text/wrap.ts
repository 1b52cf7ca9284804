import { append } from '../../../core/model/lists.ts'
import { formatCount } from '../../../core/model/text/words.ts'
import { measureWidth, splitGraphemes } from './display-width.ts'

/** Blank at which no line breaks; the caller replaces it by a blank. */
export const hardBlank = '\u00a0'

/** Text that is kept whole for copying: quotes and commands. */
const whole = /"[^"]*"|\b(?:edgewise|git) [a-z]+ [^\s,;)]+/g
/** A command on a line of its own, indented. */
const isCommand = /^ +(?:edgewise|git) [a-z]/

/**
 * Wraps text to lines of at most `columns` columns, each starting with the indent. Lines break at
 * blanks, and within a word only if it is longer than a line. Line ends stay, and continuation
 * lines keep the indent of their line. Add colour afterwards.
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
 * Wraps sentences to lines of at most `columns` columns; continuation lines are indented by two.
 * Quoted text, commands and paths stay whole for copying, in a longer line if needed; so does an
 * indented line that is a command.
 */
export function wrapSentences(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapSentence(line, columns))
    .join('\n')
}

/** Truncates a line to the columns, with `…` at the end. */
export function truncate(line: string, columns: number): string {
  if (measureWidth(line) <= columns) return line.trimEnd()
  let start = ''
  let used = 0
  for (const character of line) {
    used += measureWidth(character)
    if (used > columns - 1) break
    start += character
  }
  return `${start}…`
}

/** Cuts the middle of a text that is too long, and gives the length of the whole. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const end = Math.floor(max / 4)
  const cut = `… (cut, ${formatCount(text.length)} characters) …`
  return text.slice(0, max - end) + cut + text.slice(-end)
}

function wrapLine(line: string, room: number): string[] {
  const words = line.trimStart()
  const indent = ' '.repeat(Math.min(line.length - words.length, Math.floor(room / 2)))
  return wrapWords(words, room - indent.length).map((each) => (indent + each).trimEnd())
}

function wrapSentence(line: string, columns: number): string[] {
  if (measureWidth(line) <= columns || isCommand.test(line)) return [line]
  const words = line.trimStart()
  const indent = ' '.repeat(line.length - words.length)
  // Escaped text does not contain NUL.
  const joined = words.replace(whole, (found) => found.replaceAll(' ', '\0'))
  const [first = '', ...rest] = joined.split(' ').map((word) => word.replaceAll('\0', ' '))
  const lines = [indent + first]
  for (const word of rest) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (measureWidth(longer) <= columns) lines[lines.length - 1] = longer
    else if (word !== '') lines.push(`${indent}  ${word}`)
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
    const pieces = wordWidth <= room ? [word] : breakWord(word, room)
    append(lines, pieces.slice(0, -1))
    current = pieces.at(-1) ?? ''
    width = measureWidth(current)
  }
  return [...lines, current]
}

function breakWord(word: string, room: number): string[] {
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
