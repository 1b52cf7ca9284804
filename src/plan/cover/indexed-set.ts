/** A set of small numbers that can be drawn from by position. */
export class IndexedSet {
  readonly #members: number[] = []
  readonly #position: Int32Array

  constructor(size: number) {
    this.#position = new Int32Array(size).fill(-1)
  }

  get size(): number {
    return this.#members.length
  }

  at(position: number): number {
    return this.#members[position] ?? 0
  }

  add(member: number): void {
    if ((this.#position[member] ?? 0) >= 0) return
    this.#position[member] = this.#members.length
    this.#members.push(member)
  }

  delete(member: number): void {
    const position = this.#position[member] ?? -1
    if (position < 0) return
    const last = this.#members.pop() ?? member
    this.#position[member] = -1
    if (last === member) return
    this.#members[position] = last
    this.#position[last] = position
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#members[Symbol.iterator]()
  }
}
