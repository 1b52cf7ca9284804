import type { Problem } from '../model/problem.ts'
import { warn } from './problems.ts'

/**
 * A warning for every header that is named a second time; letter case means nothing in header
 * names.
 */
export function findRepeatedNames(names: string[], pointerOf: (i: number) => string): Problem[] {
  const lower = names.map((name) => name.toLowerCase())
  return lower.flatMap((name, i) =>
    lower.indexOf(name) < i
      ? [warn(pointerOf(i), `the header "${names[i]}" is already in the list`)]
      : [],
  )
}
