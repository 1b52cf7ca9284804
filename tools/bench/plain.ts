/** Calls of the plain groupings of a change mix. */
interface Groupings {
  /** Domains with equal changes together. */
  equalPatchGrouping: number
  /** One item in each call, domains with its same value together. */
  itemByItem: number
}

/** Counts the calls of a careful script: of the plain groupings, it takes the better one. */
export function countPlain({ equalPatchGrouping, itemByItem }: Groupings): number {
  return Math.min(equalPatchGrouping, itemByItem)
}
