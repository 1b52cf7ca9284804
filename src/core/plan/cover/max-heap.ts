/** A heap of numbers by descending priority; of equal priorities the smaller number comes first. */
export class MaxHeap {
  readonly #values: number[] = []
  readonly #priorities: number[] = []

  /** Returns the highest priority; undefined when empty. */
  maxPriority(): number | undefined {
    return this.#priorities[0]
  }

  push(value: number, priority: number): void {
    let index = this.#values.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(value, priority, parent)) break
      this.#move(parent, index)
      index = parent
    }
    this.#values[index] = value
    this.#priorities[index] = priority
  }

  pop(): number | undefined {
    const first = this.#values[0]
    const value = this.#values.pop()
    const priority = this.#priorities.pop()
    if (value === undefined || priority === undefined || this.#values.length === 0) return first
    let index = 0
    for (;;) {
      const child = this.#largerChild(index)
      if (child === null || this.#isBefore(value, priority, child)) break
      this.#move(child, index)
      index = child
    }
    this.#values[index] = value
    this.#priorities[index] = priority
    return first
  }

  #largerChild(index: number): number | null {
    const left = 2 * index + 1
    const right = left + 1
    if (left >= this.#values.length) return null
    if (right >= this.#values.length) return left
    const [value, priority] = [this.#values[right] ?? 0, this.#priorities[right] ?? 0]
    return this.#isBefore(value, priority, left) ? right : left
  }

  #isBefore(value: number, priority: number, index: number): boolean {
    const other = this.#priorities[index] ?? 0
    return priority > other || (priority === other && value < (this.#values[index] ?? 0))
  }

  #move(from: number, to: number): void {
    this.#values[to] = this.#values[from] ?? 0
    this.#priorities[to] = this.#priorities[from] ?? 0
  }
}
