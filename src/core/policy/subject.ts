/** Levels of a policy, weakest first: warn; refuse unless overridden with a reason; refuse. */
export const levels = ['advisory', 'soft', 'hard'] as const
export type Level = (typeof levels)[number]

/** What a policy judges, one at a time. */
export const subjects = ['domain', 'change', 'write', 'plan', 'request'] as const
export type Subject = (typeof subjects)[number]
