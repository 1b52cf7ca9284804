interface Happening {
  at: number
  order: number
  run(): void
}

/** True time, and all events to come. Nothing in a simulation waits for anything else. */
export class World {
  /** True time, ms since 1970. */
  time = Date.UTC(2026, 10, 20)
  readonly begin = this.time
  readonly trace: string[] = []
  /** Number of times that each fault, and each other event of interest, happened. */
  readonly counts = new Map<string, number>()
  readonly violations: string[] = []
  /** Whether its test is over: no more time passes. */
  isLeft = false
  /** Called after every event. */
  onEvent: () => void = () => {}
  readonly #heap: Happening[] = []
  #order = 0

  /** Schedules an event. */
  after(ms: number, run: () => void): void {
    this.#push({ at: this.time + Math.max(0, Math.round(ms)), order: this.#order++, run })
  }

  log(who: string, what: string): void {
    this.trace.push(
      `${((this.time - this.begin) / 1000).toFixed(3).padStart(10)}  ${who.padEnd(8)} ${what}`,
    )
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  violated(law: string, what: string): void {
    const text = `${law}: ${what}`
    this.log('LAW', text)
    this.violations.push(text)
  }

  /**
   * Lets time pass until `work` is done. Fails if the work waits for nothing, or for longer than
   * `longest` ms.
   */
  async passUntil<T>(work: Promise<T>, longest: number): Promise<T> {
    let done = false
    const ended = work.finally(() => {
      done = true
    })
    // The caller handles the failure; here it only ends the loop.
    ended.catch(() => {})
    const end = this.time + longest
    for (;;) {
      await this.settle()
      if (done) return ended
      if (this.isLeft) throw new Error('expected a simulation that ends with its test')
      const next = this.#pop()
      if (next === undefined)
        throw new Error('expected work that ends, got work that waits for nothing')
      if (next.at > end)
        throw new Error(
          `expected work that ends within ${longest / 60_000} minutes, got work that goes on`,
        )
      this.time = Math.max(this.time, next.at)
      next.run()
      this.onEvent()
    }
  }

  /** Waits until all that follows from the last event has happened. */
  protected settle(): Promise<void> {
    return allPromisesRunDry()
  }

  #push(happening: Happening): void {
    const heap = this.#heap
    let i = heap.push(happening) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!before(heap[i], heap[parent])) break
      swap(heap, i, parent)
      i = parent
    }
  }

  #pop(): Happening | undefined {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      const child = before(heap[right], heap[left]) ? right : left
      if (!before(heap[child], heap[i])) return first
      swap(heap, i, child)
      i = child
    }
  }
}

/** Waits until no microtask is left: a tick requested by a microtask comes after all of them. */
function allPromisesRunDry(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve))
  })
}

function before(a: Happening | undefined, b: Happening | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

function swap(heap: Happening[], i: number, j: number): void {
  const [a, b] = [heap[i], heap[j]]
  if (a === undefined || b === undefined) return
  heap[i] = b
  heap[j] = a
}
