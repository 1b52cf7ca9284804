import leven from 'leven'

/**
 * The candidate that was most probably meant, or null when none is near (a third of the letters may
 * differ).
 */
export function findNearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null
  let best: string | null = null
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = leven(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** ` Did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const match = findNearest(word, candidates)
  return match === null ? '' : ` Did you mean "${match}"?`
}
