/**
 * Sorts applies by their start, but each after those whose values it found: the clocks of machines
 * differ.
 *
 * @param applies by their start, first to last
 * @param listFound lists the ids of the applies whose values an apply found
 */
export function sortByValues<T>(
  applies: readonly T[],
  getId: (apply: T) => string,
  listFound: (apply: T) => Iterable<string>,
): T[] {
  const byId = new Map(applies.map((each) => [getId(each), each]))
  const sorted = new Set<T>()
  const add = (each: T) => {
    // Removed first, so that no cycle of damaged files is endless.
    if (!byId.delete(getId(each))) return
    for (const id of listFound(each)) {
      const earlier = byId.get(id)
      if (earlier !== undefined) add(earlier)
    }
    sorted.add(each)
  }
  for (const each of applies) add(each)
  return [...sorted]
}
