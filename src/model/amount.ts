/** A number of things, or a share of them in percent. */
export type Amount = { count: number } | { percent: number }
