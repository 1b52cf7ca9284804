import { groupByEach } from '../model/lists.ts'
import { lowerAscii } from '../model/text/lower-ascii.ts'

/** Length of the end of a text by which it is looked up. */
const maxLength = 32

/** Finds what may have a text that lies within another one, by case or not. */
export class TextIndex {
  readonly #all: number[]
  readonly #byEnd: Map<string, number[]>
  readonly #lengths: Set<number>

  /** @param owned the texts of each; the empty one lies within all others */
  constructor(owned: readonly (readonly string[])[]) {
    this.#all = [...owned.keys()]
    const listEnds = (i: number) =>
      (owned[i] ?? []).map((text) => lowerAscii(text).slice(-maxLength))
    this.#byEnd = groupByEach(this.#all, listEnds)
    this.#lengths = new Set([...this.#byEnd.keys()].map((end) => end.length))
  }

  /** Lists the numbers of those with a text within one of these, and perhaps of others. */
  find(within: readonly (string | null)[]): number[] {
    const known = within.filter((text) => text !== null)
    if (known.length < within.length) return this.#all
    const found = new Set<number>()
    for (const text of known.map(lowerAscii))
      for (const length of this.#lengths)
        for (let at = 0; at + length <= text.length && at <= length * text.length; at++)
          for (const i of this.#byEnd.get(text.slice(at, at + length)) ?? []) found.add(i)
    return [...found].toSorted((a, b) => a - b)
  }
}
