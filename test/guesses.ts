import { expect } from 'vitest'

/** A secret that nobody can guess at once, as tokens are: letters and digits. */
export const guessed = 'k7m2xq9vb4nr8t1wz5hd3ys6fj0pgcleau2qv9xm'

/** A guess at a part of the secret, and another text of the same form that is no part of it. */
export interface Guess {
  form: string
  right: string
  wrong: string
}

/** Ways to write a guess, so that a search for parts of secrets finds it. */
const forms: Record<string, (part: string) => string> = {
  plain: (part) => part,
  'upper case': (part) => part.toUpperCase(),
  split: (part) => part.replace(/(.{3})(?=.)/g, '$1-'),
  percent: (part) => part.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`),
  hex: (part) => `x${Buffer.from(part).toString('hex')}`,
  base64: (part) => Buffer.from(part).toString('base64url'),
}

/**
 * Creates guesses at parts of the secret: of each form, a length and a place that a number decides.
 * The wrong one begins alike, so that both are sorted alike.
 */
export function createGuesses(number: number): Guess[] {
  const length = [8, 9, 12, 20, guessed.length - 1][number % 5] ?? 8
  const start = (number * 7) % (guessed.length - length + 1)
  const part = guessed.slice(start, start + length)
  const wrong = part.slice(0, 2) + Array.from(part.slice(2)).toReversed().join('')
  return Object.entries(forms).map(([form, write]) => ({
    form,
    right: write(part),
    wrong: write(wrong),
  }))
}

/** Replaces a guess, however it is quoted, and what differs between any two answers. */
export function normalizeAnswer(answer: string, guess: string): string {
  const quoted = [
    guess,
    encodeURIComponent(guess),
    encodeURIComponent(encodeURIComponent(guess)),
    guess.toLowerCase(),
    // A name is offered in its right form.
    decode(guess).toLowerCase(),
  ]
  return [...new Set(quoted)]
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, each) => replaceCut(text.replaceAll(each, '<guess>'), each), answer)
    .replaceAll(/scrypt:[\w+/=-]+/g, 'scrypt:#')
    .replaceAll(/\b[0-9a-f]{12,}\b/g, '#')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '<time>')
}

function decode(guess: string): string {
  return /^(?:[^%]|%[\da-f]{2})*$/i.test(guess) ? unescape(guess) : guess
}

/** Replaces a guess of which only the begin is quoted; both texts of a guess are cut alike. */
function replaceCut(answer: string, guess: string): string {
  let text = answer
  for (let length = guess.length - 1; length >= 8; length--)
    text = text.replaceAll(guess.slice(0, length), `<guess to ${length}>`)
  return text
}

/** Expects that answers to both texts of a guess are alike: who asks learns nothing. */
export async function expectNothingLearnt(
  where: string,
  { form, right, wrong }: Guess,
  ask: (guess: string) => Promise<string>,
): Promise<void> {
  const [hit, miss] = [await ask(right), await ask(wrong)]
  const about = `${where}, ${form}`
  expect([about, normalizeAnswer(hit, right)]).toEqual([about, normalizeAnswer(miss, wrong)])
}
