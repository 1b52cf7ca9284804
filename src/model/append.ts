/**
 * Appends entries to a list, however many: `push(...entries)` fails from about 120,000 on, since
 * each is an argument on the stack.
 */
export function append<T>(list: T[], entries: Iterable<T>): void {
  for (const entry of entries) list.push(entry)
}

/** Finds the greatest of these values and `least`, however many there are. */
export function findMax(values: Iterable<number>, least = -Infinity): number {
  let max = least
  for (const value of values) max = Math.max(max, value)
  return max
}

/** Finds the smallest of these values, however many there are. */
export function findMin(values: Iterable<number>): number {
  let min = Infinity
  for (const value of values) min = Math.min(min, value)
  return min
}
