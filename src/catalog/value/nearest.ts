import leven from 'leven'

/** Finds the most similar candidate; null if more than a third of the letters differ from all. */
export function findNearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null
  let best: string | null = null
  let minDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = leven(word.toLowerCase(), candidate.toLowerCase())
    if (distance < minDistance) {
      minDistance = distance
      best = candidate
    }
  }
  return best
}

/** Returns ` Did you mean "x"?`, or an empty string. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const match = findNearest(word, candidates)
  return match === null ? '' : ` Did you mean "${match}"?`
}
