import stringWidth from 'string-width'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const plain = /^[\x20-\x7e]*$/

/**
 * Measures the terminal columns of a text. Colour codes have no width; escape other control
 * characters first.
 */
export function measureWidth(text: string): number {
  return stringWidth(text)
}

/** Splits a text into graphemes. */
export function splitGraphemes(text: string): string[] {
  // Segmenting is slow, and ASCII needs none.
  if (plain.test(text)) return text.split('')
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}
