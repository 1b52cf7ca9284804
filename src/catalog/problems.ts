import type { Problem } from '../model/problem.ts'

const action = 'An action is no desired state'

/** A value that the service refuses. */
export function refused(pointer: string, detail: string, summary = 'The service refuses this value'): Problem {
  return { severity: 'error', scope: 'both', pointer, summary, detail }
}

/** A value that the service takes, and that can't be meant as desired state. */
export function noDesiredState(pointer: string, detail: string, summary = action): Problem {
  return { severity: 'error', scope: 'manifest', pointer, summary, detail }
}

/** A value that works and is probably not what was meant. */
export function doubtful(pointer: string, detail: string): Problem {
  return { severity: 'warning', scope: 'manifest', pointer, summary: 'Probably not what is meant', detail }
}

/** Whether a problem says that the value is an action, which only a write can carry. */
export function isImperative(problem: Problem): boolean {
  return problem.summary === action
}
