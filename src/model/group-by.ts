/** Groups entries by key, in the order in which the keys first occur. */
export function groupBy<T, K>(entries: Iterable<T>, getKey: (entry: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const entry of entries) {
    const key = getKey(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
