import type { Problem } from '../model/problem.ts'
import { warn } from './problems.ts'

/** Warns of every header name that is repeated; letter case does not matter. */
export function findRepeatedNames(names: string[], toPointer: (i: number) => string): Problem[] {
  const lower = names.map((name) => name.toLowerCase())
  return lower.flatMap((name, i) =>
    lower.indexOf(name) < i
      ? [warn(toPointer(i), `the header "${names[i]}" is already in the list`)]
      : [],
  )
}
