import leven from 'leven'

/**
 * Finds the candidate that a word was meant to be; null if they differ by more than slips. One
 * letter is never meant by another one: `M` is a month where `m` was a minute.
 */
export function findNearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null
  let best: string | null = null
  let minSlips = Infinity
  for (const candidate of candidates) {
    if (candidate === word || candidate.length < 2) continue
    const max = maxSlips(word, candidate)
    // A difference in length is at least that many slips, and costs nothing to find.
    if (Math.abs(word.length - candidate.length) > max) continue
    const slips = countSlips(word.toLowerCase(), candidate.toLowerCase())
    if (slips < minSlips && slips <= max) {
      minSlips = slips
      best = candidate
    }
  }
  return best
}

/** Maximum slips by the length of the shorter word; in one or two letters any could be one. */
function maxSlips(word: string, candidate: string): number {
  const length = Math.min(word.length, candidate.length)
  return length < 3 ? 0 : Math.min(3, 1 + Math.floor(length / 8))
}

/**
 * Counts the letters that are wrong, missing or added. Two adjacent letters in the wrong order
 * count as one.
 */
function countSlips(word: string, candidate: string): number {
  let slips = leven(word, candidate)
  for (let i = 0; i + 1 < word.length && slips > 1; i++) {
    const pair = word.charAt(i + 1) + word.charAt(i)
    if (word[i] === word[i + 1] || !candidate.includes(pair)) continue
    slips = Math.min(slips, 1 + leven(word.slice(0, i) + pair + word.slice(i + 2), candidate))
  }
  return slips
}

/** Returns ` Did you mean "x"?`, or an empty string. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const match = findNearest(word, candidates)
  if (match === null) return ''
  const onlyCase = match.toLowerCase() === word.toLowerCase()
  return ` Did you mean "${match}"?${onlyCase ? ' Upper and lower case differ.' : ''}`
}
