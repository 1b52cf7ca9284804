import stringWidth from 'string-width'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const plain = /^[\x20-\x7e]*$/

/**
 * Columns that a text takes in a terminal. Colour codes take none; other control characters should
 * be made `visible` first.
 */
export function measureWidth(text: string): number {
  return stringWidth(text)
}

/** What a reader takes for single characters, in order. */
export function splitGraphemes(text: string): string[] {
  // Segmenting is slow, and ASCII needs none.
  if (plain.test(text)) return text.split('')
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}
