/**
 * Finds what makes a regular expression malformed in every dialect; null if nothing does. The
 * service's dialect is not documented, so syntax that only JavaScript rejects (possessive
 * quantifiers, inline flags, `(?P<name>…)`) passes. The pattern is never executed.
 */
export function findRegexFault(pattern: string): string | null {
  try {
    new RegExp(pattern)
    return null
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return scan(pattern).fault
  }
}

/** Counts the capturing groups of a well-formed pattern. */
export function countGroups(pattern: string): number {
  return scan(pattern).groups
}

/** Scans a pattern as leniently as any dialect. */
function scan(pattern: string): { fault: string | null; groups: number } {
  let open = 0
  let groups = 0
  let repeatable = false
  let i = 0
  const createFault = (text: string) => ({ fault: text, groups })
  while (i < pattern.length) {
    const char = pattern[i]
    if (char === '\\') {
      if (i + 1 >= pattern.length) return createFault('it ends in a lone backslash')
      i += 2
      repeatable = true
    } else if (char === '[') {
      const end = findClassEnd(pattern, i)
      if (end < 0) return createFault(`the character class at position ${i + 1} is not closed`)
      const range = findReversedRange(pattern.slice(i + 1, end))
      if (range !== null)
        return createFault(`the range "${range}" in a character class is out of order`)
      i = end + 1
      repeatable = true
    } else if (char === '(') {
      open++
      const capturing =
        pattern[i + 1] !== '?' || /^\(\?(?:P?<[^=!]|')/.test(pattern.slice(i, i + 5))
      if (capturing) groups++
      i += pattern[i + 1] === '?' ? 2 : 1
      // The part after `(?` before the group's text (flags, a name, a look-around's sign) repeats
      // nothing.
      repeatable = pattern[i - 1] === '?'
    } else if (char === ')') {
      if (open === 0) return createFault(`the ")" at position ${i + 1} has no opening "("`)
      open--
      i++
      repeatable = true
    } else if (char === '|') {
      i++
      repeatable = false
    } else {
      const quantifier = parseQuantifier(pattern, i)
      if (quantifier === null) {
        i++
        repeatable = char !== '^'
      } else {
        if (!repeatable)
          return createFault(`"${quantifier.text}" at position ${i + 1} has nothing to repeat`)
        if (quantifier.reversed)
          return createFault(`in "${quantifier.text}" the numbers are out of order`)
        i += quantifier.text.length
        if (pattern[i] === '?' || pattern[i] === '+') i++
        repeatable = false
      }
    }
  }
  return { fault: open > 0 ? 'a group "(" is not closed' : null, groups }
}

/**
 * Returns the index of the `]` that ends the class at `start`, or -1. A leading `]` may be literal
 * or the end; both are accepted.
 */
function findClassEnd(pattern: string, start: number): number {
  let i = start + 1
  if (pattern[i] === '^') i++
  const first = i
  // Searching for ":]" at each "[:" again would take quadratic time where there is none.
  let hasNamedEnd = true
  for (; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (hasNamedEnd && pattern[i] === '[' && pattern[i + 1] === ':') {
      const end = pattern.indexOf(':]', i + 2)
      hasNamedEnd = end > 0
      if (hasNamedEnd) i = end + 1
    } else if (pattern[i] === ']' && i > first) return i
  }
  return pattern[first] === ']' ? first : -1
}

/** Finds a reversed range between two plain characters, e.g. `z-a`; null if there is none. */
function findReversedRange(text: string): string | null {
  const plain = text.replace(/\[:[a-z]+:\]|\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|.)/gis, '\n')
  for (const match of plain.matchAll(/([^\n])-([^\n\]])/g)) {
    if ((match[1] ?? '') > (match[2] ?? '')) return match[0]
  }
  return null
}

function parseQuantifier(pattern: string, i: number): { text: string; reversed: boolean } | null {
  const char = pattern[i]
  if (char === '*' || char === '+' || char === '?') return { text: char, reversed: false }
  if (char !== '{') return null
  const match = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(i, i + 24))
  if (match === null) return null
  const reversed = match[2] !== undefined && match[2] !== '' && Number(match[2]) < Number(match[1])
  return { text: match[0], reversed }
}
