import type { Problem, ProblemCode } from '../model/problem.ts'

type UndesiredCode = 'ambiguous-target' | 'unknown-group'
type RefusalCode = Exclude<ProblemCode, UndesiredCode | 'imperative' | 'doubtful'>

/** Describes a value that the service refuses. */
export function describeRefusal(
  pointer: string,
  detail: string,
  code: RefusalCode = 'refused',
): Problem {
  return { code, severity: 'error', scope: 'both', pointer, detail }
}

/** Describes a missing required field; `pointer` is that of its object. */
export function describeMissingField(pointer: string, detail: string): Problem {
  return describeRefusal(pointer, detail, 'missing-field')
}

/** Describes a value that the service accepts but that is not a desired state. */
export function describeUndesired(pointer: string, detail: string, code: UndesiredCode): Problem {
  return { code, severity: 'error', scope: 'manifest', pointer, detail }
}

/** Describes an action, which only a write can contain. */
export function describeAction(pointer: string, detail: string): Problem {
  return { code: 'imperative', severity: 'error', scope: 'manifest', pointer, detail }
}

/** Tests whether a problem reports an action. */
export function isImperative(problem: Problem): boolean {
  return problem.code === 'imperative'
}

/** Warns of a value that is valid but probably not intended. */
export function warn(pointer: string, detail: string): Problem {
  return { code: 'doubtful', severity: 'warning', scope: 'manifest', pointer, detail }
}

/** Warns of every header name that is repeated; letter case does not matter. */
export function findRepeatedNames(names: string[], toPointer: (i: number) => string): Problem[] {
  const lower = names.map((name) => name.toLowerCase())
  return lower.flatMap((name, i) =>
    lower.indexOf(name) < i
      ? [warn(toPointer(i), `the header "${names[i]}" is already in the list`)]
      : [],
  )
}
