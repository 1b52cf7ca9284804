/** Exit codes; part of the public interface. */
export const exitCodes = { done: 0, failed: 1, differences: 2, incomplete: 3 } as const

/** Exit codes after a signal; part of the public interface. */
export const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const
