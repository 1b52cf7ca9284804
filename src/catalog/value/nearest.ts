import leven from 'leven'

/** Finds the most similar candidate; null if more than a third of the letters differ from all. */
export function findNearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null
  let best: string | null = null
  let minDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = countEdits(word.toLowerCase(), candidate.toLowerCase())
    if (distance < minDistance) {
      minDistance = distance
      best = candidate
    }
  }
  return best
}

/** Counts the letters that differ; two adjacent letters in the wrong order count as one. */
function countEdits(word: string, candidate: string): number {
  let at = 0
  while (at < word.length && word[at] === candidate[at]) at++
  const swapped = word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
  return word !== candidate && swapped === candidate ? 1 : leven(word, candidate)
}

/** Returns ` Did you mean "x"?`, or an empty string. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const match = findNearest(word, candidates)
  return match === null ? '' : ` Did you mean "${match}"?`
}
