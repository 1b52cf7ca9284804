import type { Problem, ProblemCode } from '../model/problem.ts'

type UndesiredCode = 'ambiguous-target' | 'unknown-group'
type RefusalCode = Exclude<ProblemCode, UndesiredCode | 'imperative' | 'doubtful'>

/** A value that the service refuses. */
export function refuse(pointer: string, detail: string, code: RefusalCode = 'refused'): Problem {
  return { code, severity: 'error', scope: 'both', pointer, detail }
}

/** A required field that is left out; `pointer` is its object's. */
export function refuseMissingField(pointer: string, detail: string): Problem {
  return refuse(pointer, detail, 'missing-field')
}

/** A value that the service takes, and that can't be meant as desired state. */
export function refuseAsDesired(pointer: string, detail: string, code: UndesiredCode): Problem {
  return { code, severity: 'error', scope: 'manifest', pointer, detail }
}

/** A value that is an action, which only a write can carry. */
export function refuseAction(pointer: string, detail: string): Problem {
  return { code: 'imperative', severity: 'error', scope: 'manifest', pointer, detail }
}

/** Whether a problem says that the value is an action. */
export function isImperative(problem: Problem): boolean {
  return problem.code === 'imperative'
}

/** A value that works and is probably not what was meant. */
export function warn(pointer: string, detail: string): Problem {
  return { code: 'doubtful', severity: 'warning', scope: 'manifest', pointer, detail }
}
