/**
 * What makes a regular expression malformed in every dialect, or null. The service's own dialect is
 * not stated, so what only JavaScript refuses (possessive quantifiers, inline flags, `(?P<name>…)`)
 * passes. The pattern is never run.
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

/** How many capturing groups a well-formed pattern has. */
export function countGroups(pattern: string): number {
  return scan(pattern).groups
}

/** Reads a pattern as leniently as any dialect does. */
function scan(pattern: string): { fault: string | null; groups: number } {
  let open = 0
  let groups = 0
  let repeatable = false
  let i = 0
  const fault = (text: string) => ({ fault: text, groups })
  while (i < pattern.length) {
    const at = pattern[i]
    if (at === '\\') {
      if (i + 1 >= pattern.length) return fault('it ends in a lone backslash')
      i += 2
      repeatable = true
    } else if (at === '[') {
      const end = classEnd(pattern, i)
      if (end < 0) return fault(`the character class at position ${i + 1} is not closed`)
      const range = reversedRange(pattern.slice(i + 1, end))
      if (range !== null) return fault(`the range "${range}" in a character class is out of order`)
      i = end + 1
      repeatable = true
    } else if (at === '(') {
      open++
      const capturing =
        pattern[i + 1] !== '?' || /^\(\?(?:P?<[^=!]|')/.test(pattern.slice(i, i + 5))
      if (capturing) groups++
      i += pattern[i + 1] === '?' ? 2 : 1
      // What follows `(?` up to the group's text (flags, a name, a look-around's sign) repeats
      // nothing either way.
      repeatable = pattern[i - 1] === '?'
    } else if (at === ')') {
      if (open === 0) return fault(`the ")" at position ${i + 1} closes no group`)
      open--
      i++
      repeatable = true
    } else if (at === '|') {
      i++
      repeatable = false
    } else {
      const quantifier = quantifierAt(pattern, i)
      if (quantifier === null) {
        i++
        repeatable = at !== '^'
      } else {
        if (!repeatable)
          return fault(`"${quantifier.text}" at position ${i + 1} has nothing to repeat`)
        if (quantifier.reversed)
          return fault(`in "${quantifier.text}" the numbers are out of order`)
        i += quantifier.text.length
        if (pattern[i] === '?' || pattern[i] === '+') i++
        repeatable = false
      }
    }
  }
  return { fault: open > 0 ? 'a group "(" is not closed' : null, groups }
}

/**
 * Index of the `]` that ends the class at `start`, or -1. A `]` in first place may be literal or
 * the end: either will do.
 */
function classEnd(pattern: string, start: number): number {
  let i = start + 1
  if (pattern[i] === '^') i++
  const first = i
  for (; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '[' && pattern[i + 1] === ':') {
      const end = pattern.indexOf(':]', i + 2)
      if (end > 0) i = end + 1
    } else if (pattern[i] === ']' && i > first) return i
  }
  return pattern[first] === ']' ? first : -1
}

/**
 * A range between two plain characters that runs backwards, e.g. `z-a`; null when there is none.
 */
function reversedRange(text: string): string | null {
  const plain = text.replace(/\[:[a-z]+:\]|\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|.)/gis, '\n')
  for (const match of plain.matchAll(/([^\n])-([^\n\]])/g)) {
    if ((match[1] ?? '') > (match[2] ?? '')) return match[0]
  }
  return null
}

function quantifierAt(pattern: string, i: number): { text: string; reversed: boolean } | null {
  const at = pattern[i]
  if (at === '*' || at === '+' || at === '?') return { text: at, reversed: false }
  if (at !== '{') return null
  const match = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(i, i + 24))
  if (match === null) return null
  const reversed = match[2] !== undefined && match[2] !== '' && Number(match[2]) < Number(match[1])
  return { text: match[0], reversed }
}
