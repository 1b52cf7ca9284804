import stringWidth from 'string-width'

let graphemes: Intl.Segmenter | undefined
/**
 * Characters of one column each that combine with no other: ASCII, letters of European languages,
 * blanks, dashes, quotes, dots, arrows and lines.
 */
const narrow = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u257f]*$/

/**
 * Measures the terminal columns of a text. Colour codes have no width; escape other control
 * characters first.
 */
export function measureWidth(text: string): number {
  // The patterns of string-width take 25 ms to compile, so most runs should not need them.
  return narrow.test(text) ? text.length : stringWidth(text)
}

/** Splits a text into graphemes. */
export function splitGraphemes(text: string): string[] {
  // Segmenting is slow, and most text needs none.
  if (narrow.test(text)) return text.split('')
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}
