import { stripVTControlCharacters } from 'node:util'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
// Written as a string because the compiler's target does not know the flag yet.
const emoji = new RegExp('^\\p{RGI_Emoji}$', 'v')
const zeroWidth = /^[\p{M}\p{Cc}\p{Cf}\u1160-\u11ff]$/u
// East Asian wide and full-width characters, and emoji that are shown as such by themselves.
const wideRanges = [
  '\\p{Emoji_Presentation}\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\u4dbf\\u4e00-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3',
  '\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6',
  '\\u{16fe0}-\\u{18d08}\\u{1aff0}-\\u{1b2fb}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}',
]
const wide = new RegExp(`^[${wideRanges.join('')}]$`, 'u')
// The joiners stay: emoji and several scripts need them.
const unsafe = /[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/gu
const plain = /^[\x20-\x7e]*$/
/** What a reader may want to copy and has blanks in it. */
const whole = /"[^"]*"|\b(?:edgewise|git) [a-z]+ [^\s,;)]+/g
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Text in lines of at most `columns` columns, each beginning with the indent. Lines break at blanks, and within a word only
 * where it is longer than a line. Line ends stay, and what a line is set in by stays for what it is broken into. Colour is
 * put on afterwards.
 */
export function wrap(text: string, columns: number, indent: string): string {
  const room = Math.max(1, columns - displayWidth(indent))
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, room))
    .map((line) => (line === '' ? '' : indent + line))
    .join('\n')
}

/**
 * Sentences in lines of at most `columns` columns; what a line is broken into is set in by two. What a reader may want to copy stays
 * whole, in a longer line if need be: what stands in quotes, a command, a path.
 */
export function wrapSentences(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => sentenceLines(line, columns))
    .join('\n')
}

/** Columns that a text takes in a terminal. Colour codes take none; other control characters should be made `visible` first. */
export function displayWidth(text: string): number {
  const bare = stripVTControlCharacters(text)
  if (plain.test(bare)) return bare.length
  let width = 0
  for (const grapheme of graphemesOf(bare)) width += graphemeWidth(grapheme)
  return width
}

/**
 * Text whose control characters, direction marks and other invisible characters are written as escapes (`\n`, `\u{1b}`), so
 * that what comes from a file or a service can neither drive the terminal nor hide. Line ends are escaped as well.
 */
export function visible(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}

/** `visible` for a text of several lines: its line ends stay. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join('\n')
}

/** What a reader takes for single characters, in order. */
export function graphemesOf(text: string): string[] {
  // Segmenting is slow, and ASCII needs none.
  if (plain.test(text)) return text.split('')
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

function wrapLine(line: string, room: number): string[] {
  const words = line.trimStart()
  const setIn = ' '.repeat(Math.min(line.length - words.length, Math.floor(room / 2)))
  return wrapWords(words, room - setIn.length).map((each) => (setIn + each).trimEnd())
}

function sentenceLines(line: string, columns: number): string[] {
  if (displayWidth(line) <= columns) return [line]
  const words = line.trimStart()
  const setIn = ' '.repeat(line.length - words.length)
  // Made visible, a text has no such character.
  const joined = words.replace(whole, (found) => found.replaceAll(' ', '\0'))
  const [first = '', ...rest] = joined.split(' ').map((word) => word.replaceAll('\0', ' '))
  const lines = [setIn + first]
  for (const word of rest) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (displayWidth(longer) <= columns) lines[lines.length - 1] = longer
    else if (word !== '') lines.push(`${setIn}  ${word}`)
  }
  return lines
}

function wrapWords(text: string, room: number): string[] {
  const lines: string[] = []
  let current = ''
  let width = 0
  for (const word of text.split(' ')) {
    const wordWidth = displayWidth(word)
    if (current !== '' && width + 1 + wordWidth <= room) {
      current += ` ${word}`
      width += 1 + wordWidth
      continue
    }
    if (current !== '') lines.push(current)
    const pieces = wordWidth <= room ? [word] : broken(word, room)
    lines.push(...pieces.slice(0, -1))
    current = pieces.at(-1) ?? ''
    width = displayWidth(current)
  }
  return [...lines, current]
}

function broken(word: string, room: number): string[] {
  const pieces = ['']
  let width = 0
  for (const grapheme of graphemesOf(word)) {
    const more = graphemeWidth(grapheme)
    if (width > 0 && width + more > room) {
      pieces.push('')
      width = 0
    }
    pieces[pieces.length - 1] += grapheme
    width += more
  }
  return pieces
}

function graphemeWidth(grapheme: string): number {
  if (plain.test(grapheme)) return grapheme.length
  if (emoji.test(grapheme)) return 2
  let width = 0
  for (const character of grapheme) width += zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

/** A line that fits; what is cut is marked. */
export function cut(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line.trimEnd()
  let kept = ''
  let used = 0
  for (const character of line) {
    used += displayWidth(character)
    if (used > columns - 1) break
    kept += character
  }
  return `${kept}…`
}
