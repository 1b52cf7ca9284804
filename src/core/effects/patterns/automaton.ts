import type { Program } from '../../trace/regex/machine.ts'

/** One character as an automaton reads it; null is the end of the text. */
type Char = number | null

interface State {
  /** Steps of the program at which threads stand. */
  threads: readonly number[]
  /** What was read before: nothing, a character of a word, or another one. */
  before: 'start' | 'word' | 'other'
  /** Whether some part of the text has matched. */
  hasMatched: boolean
  /** Next state by character; and whether the text may end here. */
  next: (number | undefined)[]
  accepts: boolean | undefined
}

/**
 * A compiled expression as a deterministic automaton, whose states are made when they are reached.
 */
export class Automaton {
  readonly #program: Program
  readonly #whole: boolean
  readonly #hasWords: boolean
  /** Whether a match may begin after the start of a text. */
  readonly #restarts: boolean
  readonly #states: State[] = []
  readonly #known = new Map<string, number>()
  readonly start: number

  /** @param whole whether all of a text must match */
  constructor(program: Program, whole: boolean) {
    this.#program = program
    this.#whole = whole
    this.#hasWords = program.steps.some(({ op }) => op === 'boundary' || op === 'inside')
    this.start = this.#find([0], 'start', false)
    const later = this.#hasWords ? null : this.#close({ threads: [0], before: 'other' }, null)
    this.#restarts = !whole && (later === null || later.hasMatched || later.threads.length > 0)
  }

  /** The state after a character. */
  step(index: number, char: number): number {
    const state = this.#get(index)
    return (state.next[char] ??= this.#advance(state, char))
  }

  /** Whether a text that ends in a state matches. */
  accepts(index: number): boolean {
    const state = this.#get(index)
    return (state.accepts ??= state.hasMatched || this.#close(state, null).hasMatched)
  }

  /** Whether no text that goes on from a state matches; false if that is not known. */
  isDead(index: number): boolean {
    const { threads, hasMatched } = this.#get(index)
    return threads.length === 0 && !hasMatched
  }

  /** Whether each text that goes on from a state matches; false if that is not known. */
  isSure(index: number): boolean {
    return this.#get(index).hasMatched
  }

  #get(index: number): State {
    const state = this.#states[index]
    if (state === undefined) throw new RangeError(`expected a state, got ${index}`)
    return state
  }

  #advance(state: State, char: number): number {
    const { threads, hasMatched } = this.#close(state, char)
    if (state.hasMatched || (hasMatched && !this.#whole)) return this.#find([], 'other', true)
    const reached = threads.flatMap((at) => {
      const step = this.#program.steps[at]
      return step !== undefined && step.chars?.ascii[char] === 1 ? [step.next] : []
    })
    const before = this.#hasWords && isWord(char) ? 'word' : 'other'
    return this.#find(this.#restarts ? [...reached, 0] : reached, before, false)
  }

  #find(threads: number[], before: State['before'], hasMatched: boolean): number {
    const sorted = [...new Set(threads)].toSorted((a, b) => a - b)
    const key = `${sorted.join()} ${before} ${hasMatched}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = { threads: sorted, before, hasMatched, next: [], accepts: undefined }
    this.#known.set(key, this.#states.push(made) - 1)
    return this.#states.length - 1
  }

  /** The threads that wait for a character, and whether the program has come to its end. */
  #close(
    { threads, before }: Pick<State, 'threads' | 'before'>,
    next: Char,
  ): { threads: number[]; hasMatched: boolean } {
    const stack = [...threads]
    const seen = new Set<number>()
    const found: number[] = []
    let hasMatched = false
    while (stack.length > 0) {
      const at = stack.pop() ?? 0
      const step = this.#program.steps[at]
      if (step === undefined || seen.has(at)) continue
      seen.add(at)
      if (step.op === 'match') hasMatched = true
      else if (step.op === 'char') found.push(at)
      else if (step.op === 'split') stack.push(step.next, ...(step.other >= 0 ? [step.other] : []))
      else if (step.op === 'save' || holds(step.op, before, next)) stack.push(step.next)
    }
    return { threads: found, hasMatched }
  }
}

function holds(op: Program['steps'][number]['op'], before: State['before'], next: Char): boolean {
  if (op === 'start') return before === 'start'
  if (op === 'end') return next === null
  const isBoundary = (before === 'word') !== (next !== null && isWord(next))
  return op === 'boundary' ? isBoundary : !isBoundary
}

function isWord(char: number): boolean {
  return /\w/.test(String.fromCharCode(char))
}
