/**
 * Arranges elements so that those of one group are neighbours as far as possible: after each
 * element comes the one that is in the same groups, else the one with the fewest other groups.
 * Groups that share no element keep their order; elements without a group are last, in their order.
 *
 * @param count number of elements, which are 0, 1, …
 * @param groups elements of each group
 */
export function arrangeByGroups(count: number, groups: number[][]): number[] {
  const own: number[][] = Array.from({ length: count }, () => [])
  for (const [group, elements] of groups.entries())
    for (const element of elements) own[element]?.push(group)
  const getGroups = (element: number): number[] => own[element] ?? []
  const order: number[] = []
  const placed = new Set<number>()
  // Unplaced neighbours, nearest first; the last elements that may have some.
  const open: number[] = []
  const place = (element: number) => {
    placed.add(element)
    order.push(element)
    open.push(element)
  }
  const findNext = (element: number): number | null => {
    const shared = new Map<number, number>()
    for (const group of getGroups(element))
      for (const other of groups[group] ?? [])
        if (!placed.has(other)) shared.set(other, (shared.get(other) ?? 0) + 1)
    let [next, least]: [number | null, number] = [null, Infinity]
    for (const [other, groupsShared] of shared) {
      const distance = getGroups(other).length - 2 * groupsShared
      if (distance > least || (distance === least && next !== null && other > next)) continue
      ;[next, least] = [other, distance]
    }
    return next
  }
  const seeds = own.map((_, element) => element)
  const getFirst = (element: number) => own[element]?.[0] ?? Infinity
  // Infinity − Infinity is NaN, which is no order.
  seeds.sort((a, b) => (getFirst(a) === getFirst(b) ? a - b : getFirst(a) - getFirst(b)))
  for (const seed of seeds) {
    if (placed.has(seed)) continue
    place(seed)
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const next = findNext(last)
      if (next === null) open.pop()
      else place(next)
    }
  }
  return order
}
