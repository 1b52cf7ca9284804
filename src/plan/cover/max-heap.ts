/** Numbers with priorities; of equal priorities the smaller number comes first. */
export class MaxHeap {
  readonly #values: number[] = []
  readonly #priorities: number[] = []

  /** Returns the highest priority; undefined when empty. */
  maxPriority(): number | undefined {
    return this.#priorities[0]
  }

  push(value: number, priority: number): void {
    let place = this.#values.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#isBefore(value, priority, parent)) break
      this.#move(parent, place)
      place = parent
    }
    this.#values[place] = value
    this.#priorities[place] = priority
  }

  pop(): number | undefined {
    const first = this.#values[0]
    const value = this.#values.pop()
    const priority = this.#priorities.pop()
    if (value === undefined || priority === undefined || this.#values.length === 0) return first
    let place = 0
    for (;;) {
      const child = this.#largerChild(place)
      if (child === null || this.#isBefore(value, priority, child)) break
      this.#move(child, place)
      place = child
    }
    this.#values[place] = value
    this.#priorities[place] = priority
    return first
  }

  #largerChild(place: number): number | null {
    const left = 2 * place + 1
    const right = left + 1
    if (left >= this.#values.length) return null
    if (right >= this.#values.length) return left
    const [value, priority] = [this.#values[right] ?? 0, this.#priorities[right] ?? 0]
    return this.#isBefore(value, priority, left) ? right : left
  }

  #isBefore(value: number, priority: number, place: number): boolean {
    const other = this.#priorities[place] ?? 0
    return priority > other || (priority === other && value < (this.#values[place] ?? 0))
  }

  #move(from: number, to: number): void {
    this.#values[to] = this.#values[from] ?? 0
    this.#priorities[to] = this.#priorities[from] ?? 0
  }
}
