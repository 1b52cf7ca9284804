/** Maximum length of digits, and of a word with digits after it, that are easy to guess. */
const maxWordLength = 15
const minLength = 8
const minDistinct = 5

/**
 * Explains in a clause why a secret is easy to guess for people who can see its fingerprint in the
 * state; null if it is not. Never quotes the secret.
 */
export function explainWeakness(value: string): string | null {
  if (value.length < minLength) return 'it is short'
  if (new Set(value).size < minDistinct) return 'it has few different characters'
  if (value.length > maxWordLength) return null
  if (/^\d+$/.test(value)) return 'it has digits only'
  return /^[^\d\W_]+[\d_.!?-]*$/u.test(value) ? 'it is like a word' : null
}
