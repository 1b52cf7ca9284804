import { isSameAnswer, Unknown, uniteUnknown, type Answer } from './answer.ts'

/**
 * The entries of a list in rank order that may decide: the first that matches, and all before it
 * whose match is unknown; null if none may match.
 */
export interface Deciders<T> {
  deciders: (T | null)[]
  /** Why it is unknown which one decides. */
  unknown: Unknown[]
}

/** Finds the possible deciders of a list in rank order (request semantics, 2). */
export function findDeciders<T>(
  entries: Iterable<T>,
  matches: (entry: T) => Answer<boolean>,
): Deciders<T> {
  const found: Deciders<T> = { deciders: [], unknown: [] }
  for (const entry of entries) {
    const match = matches(entry)
    if (match === false) continue
    found.deciders.push(entry)
    if (match === true) return found
    found.unknown.push(match)
  }
  found.deciders.push(null)
  return found
}

/** The value that all possible deciders give, or why there is none. */
export function agree<T, U>(
  { deciders, unknown }: Deciders<T>,
  read: (decider: T | null) => Answer<U>,
): Answer<U> {
  const values = deciders.map(read)
  const [first] = values
  if (first === undefined) throw new RangeError('a list has at least one possible decider')
  if (values.length === 1) return first
  const isSame = values.every((value) => isSameAnswer(value, first))
  if (isSame && !(first instanceof Unknown)) return first
  return uniteUnknown([...unknown, ...values]) ?? first
}
