import type { Evaluation } from '../evaluation.ts'
import { fold } from './case.ts'

/**
 * Tests whether a text matches an entry (request semantics, 3.1, "text"): `^t$` is equal to it, `^`
 * or `$` alone bind it to an end (R22), and any other entry is contained.
 */
export function matchText(
  e: Evaluation,
  entry: string,
  text: string,
  ignoresCase: boolean,
): boolean {
  const [wanted, given] = [fold(entry, ignoresCase), fold(text, ignoresCase)]
  const [starts, ends] = [wanted.startsWith('^'), wanted.endsWith('$')]
  if (starts && ends && wanted.length > 1) return given === wanted.slice(1, -1)
  if (!starts && !ends) return given.includes(wanted)
  const bound = starts ? given.startsWith(wanted.slice(1)) : given.endsWith(wanted.slice(0, -1))
  const contained = given.includes(wanted)
  if (bound === contained) return bound
  return e.reading('R22') === 'anchor' ? bound : contained
}
