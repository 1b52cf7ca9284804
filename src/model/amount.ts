/** A count, or a share in percent. */
export type Amount = { count: number } | { percent: number }
