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
const plain = /^[\x20-\x7e]*$/

/**
 * Columns that a text takes in a terminal. Colour codes take none; other control characters should
 * be made `visible` first.
 */
export function measureWidth(text: string): number {
  const bare = stripVTControlCharacters(text)
  if (plain.test(bare)) return bare.length
  let width = 0
  for (const grapheme of splitGraphemes(bare)) width += measureGrapheme(grapheme)
  return width
}

/** What a reader takes for single characters, in order. */
export function splitGraphemes(text: string): string[] {
  // Segmenting is slow, and ASCII needs none.
  if (plain.test(text)) return text.split('')
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/** Columns that what a reader takes for a single character takes in a terminal. */
export function measureGrapheme(grapheme: string): number {
  if (plain.test(grapheme)) return grapheme.length
  if (emoji.test(grapheme)) return 2
  let width = 0
  for (const character of grapheme)
    width += zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}
