/** Exit codes; what they mean is part of the program's outside. */
export const exitCodes = { done: 0, failed: 1, differences: 2, incomplete: 3 } as const
