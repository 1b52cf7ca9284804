import type { Run } from '../run.ts'
import { fold } from './case.ts'

/**
 * Tests whether a text matches an entry (request semantics, 3.1, "text"): `^t$` is equal to it, `^`
 * or `$` alone bind it to an end (R22), and any other entry is contained.
 */
export function matchText(run: Run, entry: string, text: string, folds: boolean): boolean {
  const [wanted, given] = [fold(entry, folds), fold(text, folds)]
  const [starts, ends] = [wanted.startsWith('^'), wanted.endsWith('$')]
  if (starts && ends && wanted.length > 1) return given === wanted.slice(1, -1)
  if (starts === ends || run.reading('R22') === 'literal') return given.includes(wanted)
  return starts ? given.startsWith(wanted.slice(1)) : given.endsWith(wanted.slice(0, -1))
}
