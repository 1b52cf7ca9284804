import type { CharSet, Node } from './syntax.ts'

/** A program for texts: each step reads one character, goes on to others, or tests a place. */
interface Step {
  op: 'char' | 'split' | 'save' | 'start' | 'end' | 'boundary' | 'inside' | 'match'
  chars: CharSet | null
  /** Next step, and the less preferred one of a split; the slot of a save. */
  next: number
  other: number
}

/** A compiled expression. */
export interface Program {
  steps: Step[]
  slots: number
  ignoresCase: boolean
}

/** Compiles an expression to steps that are followed all at once, without going back. */
export function compileProgram(node: Node, groups: number, ignoresCase: boolean): Program {
  const steps: Step[] = []
  compile(steps, { kind: 'group', number: 0, of: node }, ignoresCase)
  steps.push({ op: 'match', chars: null, next: -1, other: -1 })
  return { steps, slots: 2 * (groups + 1), ignoresCase }
}

function push(steps: Step[], op: Step['op'], chars: CharSet | null = null, other = -1): Step {
  const step = { op, chars, next: steps.length + 1, other }
  steps.push(step)
  return step
}

function compile(steps: Step[], node: Node, ignoresCase: boolean): void {
  switch (node.kind) {
    case 'empty':
      return
    case 'char':
      push(steps, 'char', ignoresCase ? foldCase(node.chars) : node.chars)
      return
    case 'sequence':
      for (const part of node.of) compile(steps, part, ignoresCase)
      return
    case 'group':
      push(steps, 'save', null, 2 * node.number)
      compile(steps, node.of, ignoresCase)
      push(steps, 'save', null, 2 * node.number + 1)
      return
    case 'choice':
      compileChoice(steps, node.of, ignoresCase)
      return
    case 'repeat':
      compileRepeat(steps, node, ignoresCase)
      return
    default:
      push(steps, node.kind)
  }
}

function compileChoice(steps: Step[], parts: Node[], ignoresCase: boolean): void {
  const ends: Step[] = []
  parts.forEach((part, i) => {
    const isLast = i === parts.length - 1
    const split = isLast ? null : push(steps, 'split')
    compile(steps, part, ignoresCase)
    if (split === null) return
    ends.push(push(steps, 'split'))
    split.other = steps.length
  })
  for (const end of ends) end.next = steps.length
}

function compileRepeat(
  steps: Step[],
  { of, min, max, isLazy }: Extract<Node, { kind: 'repeat' }>,
  ignoresCase: boolean,
): void {
  for (let i = 0; i < min; i++) compile(steps, of, ignoresCase)
  const splits: Step[] = []
  const open = () => splits.push(push(steps, 'split'))
  const start = steps.length
  if (max === Number.POSITIVE_INFINITY) {
    open()
    compile(steps, of, ignoresCase)
    push(steps, 'split').next = start
  } else
    for (let i = min; i < max; i++) {
      open()
      compile(steps, of, ignoresCase)
    }
  for (const split of splits) {
    split.other = steps.length
    if (isLazy) [split.next, split.other] = [split.other, split.next]
  }
}

/** Adds the other case of each letter. Of a class that excludes, the excluded letters. */
function foldCase(set: CharSet): CharSet {
  const known = foldedSets.get(set)
  if (known !== undefined) return known
  const { ascii, others } = set
  const folded = Uint8Array.from(ascii)
  for (let upper = 65; upper <= 90; upper++) {
    const [large, small] = [ascii[upper] ?? 0, ascii[upper + 32] ?? 0]
    const is = others ? Math.min(large, small) : Math.max(large, small)
    folded[upper] = folded[upper + 32] = is
  }
  const made = { ascii: folded, others }
  foldedSets.set(set, made)
  return made
}

const foldedSets = new WeakMap<CharSet, CharSet>()

/** Where a match begins and ends, and its groups; -1 for one that took no part. */
export type Captures = Int32Array

/**
 * Finds the leftmost match, by the preferences of alternatives and quantifiers; null without one.
 * Takes time in proportion to program × text.
 *
 * @param whole whether all of the text must match
 */
export function findMatch(program: Program, text: string, whole: boolean): Captures | null {
  const run = new Run(program, text)
  return run.find(whole)
}

/** Tests whether a text matches; faster than `findMatch`. */
export function testMatch(program: Program, text: string, whole: boolean): boolean {
  const run = new Run({ ...program, slots: 0 }, text)
  return run.find(whole) !== null
}

const none = new Int32Array(0)

/** One run of a program over a text: the threads at a place, most preferred first. */
class Run {
  readonly #steps: Step[]
  readonly #slots: number
  readonly #text: string
  /** Place + 1 at which a step was last added. */
  readonly #seen: Int32Array
  #threads: number[] = []
  #captures: Captures[] = []
  readonly #stack: number[] = []
  readonly #stackCaptures: Captures[] = []

  constructor({ steps, slots }: Program, text: string) {
    this.#steps = steps
    this.#slots = slots
    this.#text = text
    this.#seen = new Int32Array(steps.length)
  }

  find(whole: boolean): Captures | null {
    let best: Captures | null = null
    for (let at = 0; at <= this.#text.length; at++) {
      if (best === null && (at === 0 || !whole))
        this.#add(0, at, this.#slots === 0 ? none : new Int32Array(this.#slots).fill(-1))
      if (this.#threads.length === 0 && (best !== null || whole)) break
      const [threads, captures] = [this.#threads, this.#captures]
      this.#threads = []
      this.#captures = []
      const code = this.#text.charCodeAt(at)
      for (let i = 0; i < threads.length; i++) {
        const step = this.#steps[threads[i] ?? 0]
        if (step === undefined) continue
        if (step.op === 'match') {
          if (whole && at < this.#text.length) continue
          best = captures[i] ?? none
          if (this.#slots === 0) return best
          break
        }
        if (at < this.#text.length && matches(step.chars, code))
          this.#add(step.next, at + 1, captures[i] ?? none)
      }
    }
    return best
  }

  /** Adds the threads that a step leads to without a character. */
  #add(from: number, at: number, captures: Captures): void {
    this.#stack.push(from)
    this.#stackCaptures.push(captures)
    while (this.#stack.length > 0) {
      const index = this.#stack.pop() ?? 0
      const current = this.#stackCaptures.pop() ?? none
      if (this.#seen[index] === at + 1) continue
      this.#seen[index] = at + 1
      const step = this.#steps[index]
      if (step === undefined) continue
      if (step.op === 'char' || step.op === 'match') {
        this.#threads.push(index)
        this.#captures.push(current)
      } else if (step.op === 'split') {
        if (step.other >= 0) this.#push(step.other, current)
        this.#push(step.next, current)
      } else if (step.op === 'save') {
        this.#push(step.next, this.#save(current, step.other, at))
      } else if (holdsAt(step.op, this.#text, at)) this.#push(step.next, current)
    }
  }

  #push(index: number, captures: Captures): void {
    this.#stack.push(index)
    this.#stackCaptures.push(captures)
  }

  #save(captures: Captures, slot: number, at: number): Captures {
    if (this.#slots === 0) return captures
    const next = Int32Array.from(captures)
    next[slot] = at
    return next
  }
}

function matches(chars: CharSet | null, code: number): boolean {
  if (chars === null) return false
  return code < 128 ? chars.ascii[code] === 1 : chars.others
}

function holdsAt(op: Step['op'], text: string, at: number): boolean {
  if (op === 'start') return at === 0
  if (op === 'end') return at === text.length
  const isBoundary = isWordChar(text[at - 1]) !== isWordChar(text[at])
  return op === 'boundary' ? isBoundary : !isBoundary
}

function isWordChar(char: string | undefined): boolean {
  return char !== undefined && /\w/.test(char)
}
