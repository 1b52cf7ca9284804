/** Groups entries by key, in the order in which the keys first occur. */
export function groupBy<T, K>(entries: Iterable<T>, getKey: (entry: T) => K): Map<K, [T, ...T[]]> {
  return groupByEach(entries, (entry) => [getKey(entry)])
}

/** Groups entries by each of their keys, in the order in which the keys first occur. */
export function groupByEach<T, K>(
  entries: Iterable<T>,
  listKeys: (entry: T) => Iterable<K>,
): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>()
  for (const entry of entries)
    for (const key of listKeys(entry)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [entry])
      else group.push(entry)
    }
  return groups
}

/** Groups entries of domains by a key: the first of each group, and the domains of all. */
export function groupDomains<T extends { domain: string }>(
  entries: Iterable<T>,
  getKey: (entry: T) => string,
): { first: T; domains: string[] }[] {
  return [...groupBy(entries, getKey).values()].map((same) => ({
    first: same[0],
    domains: same.map(({ domain }) => domain),
  }))
}

/** Splits a list into two halves, of which the first may have an entry more. */
export function halve<T>(list: T[]): [T[], T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}

/** Splits a list into chunks of at most `size` entries. */
export function splitIntoChunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  )
}

/**
 * Appends entries to a list, however many: `push(...entries)` fails from about 120,000 on, since
 * each is an argument on the stack.
 */
export function append<T>(list: T[], entries: Iterable<T>): void {
  for (const entry of entries) list.push(entry)
}

/** Adds numbers, or what is counted of each entry. */
export function addUp(list: Iterable<number>): number
export function addUp<T>(list: Iterable<T>, count: (entry: T) => number): number
export function addUp(list: Iterable<number>, count = (entry: number) => entry): number {
  let total = 0
  for (const entry of list) total += count(entry)
  return total
}

/** Returns what a map has for a key, after it has created what is missing. */
export function getOrAdd<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  create: () => V,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

/** Compares texts by code unit. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Compares entries by their keys. */
export function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]) {
  return a < b ? -1 : 1
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
