import { COLLECTION_STYLE_BLOCK, SCALAR_STYLE_PLAIN, type Event, type ScalarEvent } from 'js-yaml'

/** Tests whether only blanks and dashes are before a scalar in its line. */
export function beginsLine(text: string, { style, valueStart }: ScalarEvent): boolean {
  let before = valueStart - (style === SCALAR_STYLE_PLAIN ? 1 : 2)
  while (before >= 0 && (text[before] === ' ' || text[before] === '-')) before--
  return before < 0 || text[before] === '\n'
}

/**
 * Tests whether a comment that parsers read in different ways is between a key and its value:
 * before the colon in flow style, or at the begin of a line.
 */
export function hasOddComment(
  text: string,
  key: ScalarEvent,
  value: Event | undefined,
  isBlock: boolean,
): boolean {
  const start = findStart(value)
  if (start < 0 || (isBlock && isBlockCollection(value))) return false
  const between = text.slice(key.valueEnd, start)
  return between.includes(isBlock ? '\n#' : '#')
}

/** Finds where a value starts; -1 for an empty one. */
function findStart(value: Event | undefined): number {
  if (value === undefined) return -1
  if ('valueStart' in value)
    return value.style === SCALAR_STYLE_PLAIN ? value.valueStart : value.valueStart - 1
  return 'start' in value ? value.start : -1
}

function isBlockCollection(value: Event | undefined): boolean {
  return value !== undefined && 'start' in value && value.style === COLLECTION_STYLE_BLOCK
}

/** Tests whether an entry of a list in block style is in the line of its dash. */
export function followsDash(text: string, entry: Event | undefined): boolean {
  const start = findStart(entry)
  return (
    start < 0 ||
    isBlockCollection(entry) ||
    /- *$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))
  )
}
